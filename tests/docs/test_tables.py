"""What is made of the descriptions of configuration is up to date."""

from pathlib import Path

import pytest

from scripts.tables import outputs


@pytest.mark.parametrize(
    ("path", "text"), list(outputs()), ids=lambda part: Path(str(part)).name[:40]
)
def test_what_is_made_of_descriptions_is_up_to_date(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, "run python -m scripts.tables"
