"""Write a :class:`~dirichlet_bandits.crops.season.Case` as the files that the crop model reads.

The model reads fixed columns, so every number is written with as many digits as its column holds.
"""

from dirichlet_bandits.crops.season import Case, Climate, Soil
from dirichlet_bandits.errors import ArgumentError

EXPERIMENT = "DBAN0001.MZX"
"""Name of the experiment file: eight characters and the extension of a maize experiment."""


def column(value: float, width: int = 5) -> str:
    """Write a number into a column, with as many decimals as fit, and never more than are needed.

    >>> column(0.1125), column(82.37, 9), column(1300.0)
    ('.1125', '    82.37', ' 1300')
    """
    for decimals in range(width):
        text = f"{value:.{decimals}f}"
        if float(text) == value:
            break
    while True:
        short = text.replace("-0.", "-.", 1) if text.startswith("-0.") else text.removeprefix("0") or "0"
        if len(short) <= width:
            return short.rjust(width)
        decimals -= 1
        if decimals < 0:
            raise ArgumentError("number", f"one that fits {width} columns", value)
        text = f"{value:.{decimals}f}"


def row(*cells: str | int | float, width: int = 5) -> str:
    """Return cells side by side, each after one space.

    >>> row("A", 1, 0.5)
    '     A     1    .5'
    """
    return "".join(" " + (column(cell, width) if isinstance(cell, float) else str(cell).rjust(width)) for cell in cells)


def experiment(case: Case, day: int, rseed: int, years: int) -> str:
    """Return the experiment file: ``years`` consecutive seasons, planted on ``day``, with the weather of ``rseed``."""
    year = case.first_year % 100
    start = f"{year:02d}{case.first_day:03d}"
    plant = f"{year:02d}{day:03d}"
    fertilized = 1 if case.fertilizer else 0
    lines = [
        "*EXP.DETAILS: DBAN0001MZ MAIZE PLANTING DATES",
        "",
        "*TREATMENTS                        -------------FACTOR LEVELS------------",
        "@N R O C TNAME.................... CU FL SA IC MP MI MF MR MC MT ME MH SM",
        f" 1 1 1 0 {'PLANTED ON DAY ' + str(day):25s}  1  1  0  1  1  0  {fertilized}  0  0  0  0  0  1",
        "",
        "*CULTIVARS",
        "@C CR INGENO CNAME",
        f" 1 MZ {case.cultivar} {case.cultivar}",
        "",
        "*FIELDS",
        "@L ID_FIELD WSTA....  FLSA  FLOB  FLDT  FLDD  FLDS  FLST SLTX   SLDP ID_SOIL    FLNAME",
        f" 1 DBAN0001 {case.climate.station}       -99   -99   -99   -99   -99   -99 -99  "
        + row(float(case.soil.layers[-1].bottom))
        + f" {case.soil.name} -99",
        "",
        "*INITIAL CONDITIONS",
        "@C   PCR ICDAT  ICRT  ICND  ICRN  ICRE  ICWD ICRES ICREN ICREP ICRIP ICRID ICNAME",
        " 1    MZ "
        + start
        + row(float(case.start.root_residue), -99, 1, 1, -99, float(case.start.surface_residue))
        + row(float(case.start.residue_nitrogen), 0)
        + row(float(case.start.incorporation), float(case.start.incorporation_depth), -99),
        "@C  ICBL  SH2O  SNH4  SNO3",
    ]
    lines += [
        " 1" + row(float(layer.bottom), layer.field_water, float(case.start.ammonium), float(case.start.nitrate))
        for layer in case.soil.layers
    ]
    lines += [
        "",
        "*PLANTING DETAILS",
        "@P PDATE EDATE  PPOP  PPOE  PLME  PLDS  PLRS  PLRD  PLDP  PLWT  PAGE  PENV  PLPH  SPRL",
        f" 1 {plant}   -99"
        + row(float(case.density), float(case.density), "S", "R", float(case.row_spacing), 0, float(case.depth))
        + row(-99, -99, -99, -99, 0),
    ]
    if case.fertilizer:
        lines += ["", "*FERTILIZERS (INORGANIC)"]
        lines += ["@F FDATE  FMCD  FACD  FDEP  FAMN  FAMP  FAMK  FAMC  FAMO  FOCD FERNAME"]
        lines += [
            " 1"
            + row(dose.day, dose.material, dose.application, float(dose.depth), float(dose.nitrogen))
            + row(0, 0, 0, 0, -99)
            + " -99"
            for dose in case.fertilizer
        ]
    lines += ["", *_controls(start, rseed, years), ""]
    return "\n".join(lines)


def _controls(start: str, rseed: int, years: int) -> list[str]:
    return [
        "*SIMULATION CONTROLS",
        "@N GENERAL     NYERS NREPS START SDATE RSEED SNAME....................",
        " 1 GE         " + row(years, 1, "S", start, rseed) + " WEATHER GENERATED",
        "@N OPTIONS     WATER NITRO SYMBI PHOSP POTAS DISES  CHEM  TILL   CO2",
        " 1 OP         " + row(*"YYNNNNNYM"),
        "@N METHODS     WTHER INCON LIGHT EVAPO INFIL PHOTO HYDRO NSWIT MESOM MESEV MESOL",
        " 1 ME         " + row(*"WMERSRR1GS2"),
        "@N MANAGEMENT  PLANT IRRIG FERTI RESID HARVS",
        " 1 MA         " + row(*"RNDNM"),
        "@N OUTPUTS     FNAME OVVEW SUMRY FROPT GROUT CAOUT WAOUT NIOUT MIOUT DIOUT VBOSE CHOUT OPOUT FMOPT",
        " 1 OU         " + row(*"NNY1NNNNNN0NNC"),
    ]


def soil_file(soil: Soil) -> str:
    """Return the soil file, with the one profile on which the crop grows."""
    deep = column(float(soil.layers[-1].bottom))
    lines = [
        "*SOILS: DBAN",
        "",
        f"*{soil.name}  {'DBAN':11s} {'-99':5s} {deep} GENERIC PROFILE",
        "@SITE        COUNTRY          LAT     LONG SCS FAMILY",
        " -99         -99          -99.000  -99.000 -99",
        "@ SCOM  SALB  SLU1  SLDR  SLRO  SLNF  SLPF  SMHB  SMPX  SMKE",
        row("BK", float(soil.albedo), float(soil.evaporation_limit), float(soil.drainage_rate))
        + row(float(soil.runoff_curve), float(soil.mineralisation), float(soil.photosynthesis))
        + row("SA001", "SA001", "SA001"),
        "@  SLB  SLMH  SLLL  SDUL  SSAT  SRGF  SSKS  SBDM  SLOC  SLCL  SLSI  SLCF  SLNI  SLHW  SLHB  SCEC  SADC",
    ]
    for layer in soil.layers:
        lines.append(
            row(float(layer.bottom), "-99", float(layer.lower_limit), float(layer.upper_limit))
            + row(float(layer.saturation), float(layer.root_factor), float(layer.conductivity))
            + row(float(layer.bulk_density), float(layer.organic_carbon), float(layer.clay), float(layer.silt))
            + row(-99, float(layer.nitrogen), float(layer.ph), -99, -99, -99)
        )
    return "\n".join([*lines, ""])


def climate_file(climate: Climate) -> str:
    """Return the climate file: the station, its monthly means, and the parameters of its weather generator."""
    lines = [
        f"*CLIMATE:{climate.station}",
        "@ INSI      LAT     LONG  ELEV   TAV   AMP  SRAY  TMXY  TMNY  RAIY",
        row(climate.station)
        + row(float(climate.latitude), float(climate.longitude), width=8)
        + row(float(climate.elevation), float(climate.temperature), float(climate.amplitude))
        + row(float(climate.solar), float(climate.warmest), float(climate.coldest), float(climate.rain)),
        "@START  DURN  ANGA  ANGB REFHT WNDHT SOURCE",
        row(climate.first_year, climate.years, float(climate.angstrom_a), float(climate.angstrom_b))
        + row(float(climate.reference_height), float(climate.wind_height))
        + " -99",
        "@ GSST  GSDU",
        row(1, 365),
        "",
        "*MONTHLY AVERAGES",
        "@MONTH  SAMN  XAMN  NAMN  RTOT  RNUM  SHMN  AMTH  BMTH",
    ]
    for number, m in enumerate(climate.months, 1):
        lines.append(
            row(number, *map(float, (m.solar, m.warmest, m.coldest, m.rain, m.rain_days)))
            + row("-99.0", float(climate.angstrom_a), float(climate.angstrom_b))
        )
    lines += [
        "",
        "*WGEN PARAMETERS",
        "@MONTH  SDMN  SDSD  SWMN  SWSD  XDMN  XDSD  XWMN  XWSD  NAMN  NASD ALPHA  RTOT   PDW  RNUM",
    ]
    for number, m in enumerate(climate.months, 1):
        lines.append(
            row(number, *map(float, (m.solar_dry, m.solar_dry_sd, m.solar_wet, m.solar_wet_sd)))
            + row(*map(float, (m.warmest_dry, m.warmest_dry_sd, m.warmest_wet, m.warmest_wet_sd)))
            + row(*map(float, (m.coldest, m.coldest_sd, m.rain_shape, m.rain, m.wet_after_dry, m.rain_days)))
        )
    return "\n".join([*lines, ""])


def profile(data: str, work: str) -> str:
    """Return the profile file: where the model finds its data and ours. The model truncates long paths."""
    # Columns 5 and 6 are read as a drive, so the path starts after them.
    folders = {
        "WED": work,
        "CLD": work,
        "MMZ": f"{data} dscsm048 MZCER048",
        "CRD": f"{data}/Genotype",
        "PSD": f"{data}/Pest",
        "SLD": work,
        "STD": f"{data}/StandardData",
    }
    return "".join(f"{code}    {folder}\n" for code, folder in folders.items())


def files(case: Case, day: int, rseed: int, years: int) -> dict[str, str]:
    """Return the name and text of every input file except the profile.

    >>> from dirichlet_bandits.crops.season import PUBLISHED
    >>> sorted(files(PUBLISHED, 57, 1, 1))
    ['DBAN0001.MZX', 'SOIL.SOL', 'UFGA.CLI']
    """
    return {
        EXPERIMENT: experiment(case, day, rseed, years),
        "SOIL.SOL": soil_file(case.soil),
        f"{case.climate.station}.CLI": climate_file(case.climate),
    }
