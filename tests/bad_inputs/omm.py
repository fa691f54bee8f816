"""Elements of satellites as KVN, XML and in old forms that cannot be read."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Iterator

from bad_inputs.case import Case
from bad_inputs.skies import ELEMENTS, LINES, SKY

META = {"CENTER_NAME": "EARTH", "REF_FRAME": "TEME", "TIME_SYSTEM": "UTC", "MEAN_ELEMENT_THEORY": "SGP4"}
WRONG = {
    "EPOCH": ("x", "", "2000-13-01T00:00:00", "yesterday"),
    "MEAN_MOTION": ("x", "", "0", "-1", "1e9", "nan"),
    "ECCENTRICITY": ("x", "", "1.5", "-0.1"),
    "INCLINATION": ("x", "", "190", "-5"),
    "RA_OF_ASC_NODE": ("x", ""),
    "ARG_OF_PERICENTER": ("x", ""),
    "MEAN_ANOMALY": ("x", ""),
    "CENTER_NAME": ("MARS",),
    "REF_FRAME": ("GCRF",),
    "TIME_SYSTEM": ("GPS",),
    "MEAN_ELEMENT_THEORY": ("DSST",),
}


def kvn(values: dict[str, object]) -> str:
    return "CCSDS_OMM_VERS = 2.0\n" + "".join(f"{key} = {value}\n" for key, value in values.items())


def xml(values: dict[str, object]) -> str:
    meta = "".join(f"<{key}>{values[key]}</{key}>" for key in (*META, "OBJECT_NAME") if key in values)
    mean = "".join(
        f"<{key}>{value}</{key}>" for key, value in values.items() if key not in META and key != "OBJECT_NAME"
    )
    body = f"<metadata>{meta}</metadata><data><meanElements>{mean}</meanElements></data>"
    return (
        f'<?xml version="1.0"?>\n<omm id="CCSDS_OMM_VERS" version="2.0"><body><segment>{body}</segment></body></omm>\n'
    )


def messages() -> Iterator[Case]:
    good = META | ELEMENTS

    def case(name: str, text: str | bytes, *parts: str) -> Case:
        files = (("sky.toml", SKY), ("sky.elements", text))
        return Case(name, ("check", "sky.toml"), files=files, parts=("constellation.file", *parts))

    for form, write in (("KVN", kvn), ("XML", xml)):
        for key, values in WRONG.items():
            for value in values:
                yield case(f"{form} {key}={value!r}", write(good | {key: value}), key)
        for key in (
            "EPOCH",
            "MEAN_MOTION",
            "ECCENTRICITY",
            "INCLINATION",
            "RA_OF_ASC_NODE",
            "ARG_OF_PERICENTER",
            "MEAN_ANOMALY",
        ):
            yield case(
                f"{form} without {key}", write({name: value for name, value in good.items() if name != key}), key
            )
        yield case(
            f"{form} twice",
            write(good) + write(good)
            if form == "KVN"
            else xml(good).replace(
                "</segment>", "</segment>" + xml(good)[xml(good).index("<segment>") : xml(good).index("</body>")]
            ),
        )
        yield case(f"{form} in bytes", b"\xff" + write(good).encode())
    yield case("XML cut", xml(good)[:-40])
    yield case("XML of something else", '<?xml version="1.0"?>\n<feed><entry/></feed>\n')
    yield case("KVN without values", "CCSDS_OMM_VERS = 2.0\n")
    yield case("KVN with a line of text", kvn(good) + "this is no line\n")
    yield case("no data", "No GP data found\n")
    yield case("a page", "<!DOCTYPE html>\n<html><body>Forbidden</body></html>\n")
    yield case("comments alone", "# nothing\n# at all\n")
    first, second = LINES
    yield case("a header of Hypatia with too many", f"2 2\nSat\n{first}\n{second}\n")
    yield case("a header of Hypatia without elements", "1 1\n")
