"""Where prompts go, written from the providers' documentation and not from the catalog.

Every table here is a second reading of the same sources: MicrosoftDocs/azure-ai-docs
(deployment types, May and August 2026; spillover, March 2026), the Bedrock user guide
(inference profiles, provisioned throughput, geographic cross-Region inference, 2026) and the
Vertex AI pages (provisioned throughput, data residency, mid-2026 copies). A change of the
catalog that is not a change of the world shows up as a difference.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

ANY, UNKNOWN = "any country", "not published"
Place = frozenset[str] | str
"""Countries, or ANY (no bound), or UNKNOWN (nobody says)."""

REGIONS = {
    "azure": """
        AE: uaecentral uaenorth
        AT: austriaeast
        AU: australiacentral australiacentral2 australiaeast australiasoutheast
        BE: belgiumcentral
        BR: brazilsouth brazilsoutheast
        CA: canadacentral canadaeast
        CH: switzerlandnorth switzerlandwest
        CL: chilecentral
        DE: germanynorth germanywestcentral
        DK: denmarkeast
        ES: spaincentral
        FR: francecentral francesouth
        GB: uksouth ukwest
        HK: eastasia
        ID: indonesiacentral
        IE: northeurope
        IL: israelcentral
        IN: centralindia jioindiacentral jioindiawest southindia westindia
        IT: italynorth
        JP: japaneast japanwest
        KR: koreacentral koreasouth
        MX: mexicocentral
        MY: malaysiawest
        NL: westeurope
        NO: norwayeast norwaywest
        NZ: newzealandnorth
        PL: polandcentral
        QA: qatarcentral
        SE: swedencentral swedensouth
        SG: southeastasia
        US: centralus eastus eastus2 northcentralus southcentralus westcentralus westus westus2
        US: westus3 usgovarizona usgovtexas usgovvirginia
        ZA: southafricanorth southafricawest
    """,
    "aws": """
        AE: me-central-1
        AU: ap-southeast-2 ap-southeast-4
        BH: me-south-1
        BR: sa-east-1
        CA: ca-central-1 ca-west-1
        CH: eu-central-2
        DE: eu-central-1 eusc-de-east-1
        ES: eu-south-2
        FR: eu-west-3
        GB: eu-west-2
        HK: ap-east-1
        ID: ap-southeast-3
        IE: eu-west-1
        IL: il-central-1
        IN: ap-south-1 ap-south-2
        IT: eu-south-1
        JP: ap-northeast-1 ap-northeast-3
        KR: ap-northeast-2
        MX: mx-central-1
        MY: ap-southeast-5
        NZ: ap-southeast-6
        SE: eu-north-1
        SG: ap-southeast-1
        TH: ap-southeast-7
        TW: ap-east-2
        US: us-east-1 us-east-2 us-west-1 us-west-2 us-gov-east-1 us-gov-west-1
        ZA: af-south-1
    """,
    "gcp": """
        AU: australia-southeast1 australia-southeast2
        BE: europe-west1
        BR: southamerica-east1
        CA: northamerica-northeast1 northamerica-northeast2
        CH: europe-west6
        CL: southamerica-west1
        DE: europe-west10 europe-west3
        ES: europe-southwest1
        FI: europe-north1
        FR: europe-west9
        GB: europe-west2
        HK: asia-east2
        ID: asia-southeast2
        IL: me-west1
        IN: asia-south1 asia-south2
        IT: europe-west12 europe-west8
        JP: asia-northeast1 asia-northeast2
        KR: asia-northeast3
        MX: northamerica-south1
        NL: europe-west4
        PL: europe-central2
        QA: me-central1
        SA: me-central2
        SE: europe-north2
        SG: asia-southeast1
        TH: asia-southeast3
        TW: asia-east1
        US: us-central1 us-east1 us-east4 us-east5 us-south1 us-west1 us-west2 us-west3 us-west4
        ZA: africa-south1
    """,
}
COUNTRY = {
    (cloud, name): line.strip()[:2]
    for cloud, text in REGIONS.items()
    for line in text.splitlines()
    for name in line.strip()[3:].split()
}


def codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


EU = codes("AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK")
GROUPS = {
    "EU": EU,
    "EEA": EU | {"IS", "LI", "NO"},
    "EU_DATA_BOUNDARY": EU | {"IS", "LI", "NO", "CH"},
}
AZURE_EU_ZONE = codes("FR DE IT NL NO PL ES SE CH")  # the list of May 2026
GEOGRAPHY_OF = {
    "northeurope": codes("IE NL"),
    "westeurope": codes("IE NL"),
    "eastasia": codes("HK SG"),
    "southeastasia": codes("HK SG"),
}
"""Azure geographies of two countries; every other is the region's own country."""
BEDROCK_EU = codes("DE ES FR IE IT SE")  # not London, not Zurich
NO_PROMISE = {"me-central1", "me-central2", "me-west1"}  # Vertex in the Middle East

WIDTH = {"region": 0, "country": 1, "zone": 2, "global": 3}


class Truth(NamedTuple):
    """How wide a type may process from a region, and in which countries."""

    scope: str
    place: Place


def truth(provider: str, name: str, region: str) -> Truth | None:
    """Return what the documentation says; None where the type cannot exist there."""
    home = frozenset({COUNTRY[provider, region]})
    if provider == "azure":
        return _azure(name, region, home)
    return _bedrock(name, region, home) if provider == "aws" else _vertex(name, region, home)


def _azure(name: str, region: str, home: frozenset[str]) -> Truth | None:
    government = region.startswith("usgov")
    if name.startswith("Global") or name == "DeveloperTier":
        return None if government else Truth("global", ANY)
    if name.startswith("DataZone"):
        if home == {"US"}:
            return Truth("zone", home)
        # Ireland has a meter and is not in the list: the zone and Ireland.
        european = home <= AZURE_EU_ZONE or region == "northeurope"
        return Truth("zone", AZURE_EU_ZONE | home if european else UNKNOWN)
    countries = GEOGRAPHY_OF.get(region)
    return Truth("zone", countries) if countries else Truth("country", home)


def _bedrock(name: str, region: str, home: frozenset[str]) -> Truth | None:
    separate = region.startswith(("us-gov-", "eusc-"))
    if name in ("in_region", "provisioned", "reserved"):
        return Truth("region", home)
    if separate:
        return None
    match name:
        case "global":
            return Truth("global", ANY)
        case "us":
            return Truth("zone", home) if home == {"US"} else None
        case "eu":
            return Truth("zone", BEDROCK_EU) if home <= BEDROCK_EU else None
        case "jp" | "au":
            return Truth("country", home) if home == {name.upper()} else None
        case "apac":
            return Truth("zone", UNKNOWN) if home <= codes("JP KR IN SG AU") else None
    raise LookupError(name)


def _vertex(name: str, region: str, home: frozenset[str]) -> Truth | None:
    zone = {"us": home == {"US"}, "eu": home <= EU}
    short = name.removeprefix("pt_").removesuffix("_dedicated")
    if short in zone and not zone[short]:
        return None
    if name in ("global", "pt_global", "pt_us", "pt_eu", "pt_regional"):
        return Truth("global", ANY)  # overage uses the global endpoint unless refused
    if short in zone:
        return Truth("zone", home if short == "us" else EU)
    if name in ("regional", "pt_regional_dedicated", "pt_single_zone"):
        return Truth("region", UNKNOWN if region in NO_PROMISE else home)
    raise LookupError(name)


def surroundings(provider: str, name: str, region: str) -> tuple[list[Place], bool]:
    """Return the published places of what surrounds inference, and whether some are not.

    Azure: at rest and batch files in the geography, nothing said of the rest. Bedrock: at
    rest and batch in the region, abuse detection where the request went. Vertex: at rest in
    the region. Nobody publishes telemetry and support access.
    """
    home = frozenset({COUNTRY[provider, region]})
    if provider == "azure":
        return [GEOGRAPHY_OF.get(region, home)], True
    if provider == "aws":
        there = truth(provider, name, region)
        assert there is not None
        return [home] if there.place == UNKNOWN else [home, there.place], True
    return [home], True


def inside(place: Place, admitted: Collection[str]) -> bool:
    return isinstance(place, frozenset) and place <= set(admitted)


def admitted(residency: Collection[str]) -> frozenset[str]:
    return frozenset().union(*(GROUPS.get(name, frozenset({name})) for name in residency))
