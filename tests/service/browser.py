"""A real browser without a window."""

import shutil

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

PATIENT = 60

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
)


def browser(folder, width, height):
    """Chromium with a fresh profile, as if its window had this size."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={folder}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    opened.set_page_load_timeout(120)
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    return opened


def until(page, condition):
    """Wait until it holds. Meanwhile the page may be another one, or refresh what is being looked at."""
    return WebDriverWait(page, PATIENT, ignored_exceptions=[WebDriverException]).until(lambda _: condition())


def follow(page, act):
    """Do what leads to another page, and wait for the whole of it."""
    page.execute_script("window.left = true")
    act()
    until(page, lambda: page.execute_script("return !window.left && document.readyState === 'complete'"))


def see(page, selector, what):
    """A property of an element, read in one step: the script that refreshes the page cannot come in between."""
    return page.execute_script(f"return document.querySelector(arguments[0])?.{what}", selector)


def text(page, selector):
    return (see(page, selector, "innerText") or "").strip()


def picture(page, name):
    return see(page, f"svg[aria-label^='{name}']", "outerHTML")
