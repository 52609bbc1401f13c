from __future__ import annotations

from twinwl.report.drawing import FILLS, paint


def test_81_classes_look_different():
    paints = [paint(slot) for slot in range(81)]
    assert len(set(paints)) == 81
    assert all(found.ring != found.fill for found in paints)


def test_the_first_classes_are_plain_fills():
    assert [paint(slot) for slot in range(len(FILLS))] == [(fill, None) for fill in FILLS]


def test_dark_figures_are_readable_on_every_fill():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    ink = luminance("#16181d")
    for fill in FILLS:
        assert (luminance(fill) + 0.05) / (ink + 0.05) > 4.5  # the contrast that WCAG AA asks for
