import math

import pytest

from mnemic.algo import abstain


def test_a_thousand_sentences_ask_for_the_calibrated_threshold():
    assert abstain.floor(0.35, 1000) == pytest.approx(0.35)
    assert abstain.floor(0.35, 10**6) == 0.35


def test_few_sentences_ask_for_less():
    assert abstain.floor(0.35, 0) == 0
    assert abstain.floor(0.35, 1) == pytest.approx(0.35 * math.sqrt(math.log(2) / math.log(1001)))
    floors = [abstain.floor(0.35, n) for n in range(1500)]
    assert floors == sorted(floors)
