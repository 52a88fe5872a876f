"""Pages."""

from fastapi import APIRouter

pages = APIRouter(include_in_schema=False)
