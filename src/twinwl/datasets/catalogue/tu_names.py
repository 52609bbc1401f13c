"""Names of the classification sets of the TU collection, so that a typo does not start a download."""

from __future__ import annotations

_URL = "https://www.chrsmrrs.com/graphkerneldatasets/{name}.zip"

_MOLECULES = """
AIDS BZR BZR_MD COX2 COX2_MD DHFR DHFR_MD ER_MD FRANKENSTEIN MCF-7 MCF-7H MOLT-4 MOLT-4H
Mutagenicity MUTAG NCI1 NCI109 NCI-H23 NCI-H23H OVCAR-8 OVCAR-8H P388 P388H PC-3 PC-3H PTC_FM PTC_FR
PTC_MM PTC_MR SF-295 SF-295H SN12C SN12CH SW-620 SW-620H UACC257 UACC257H Yeast YeastH
"""
_TOX21 = "AhR AR AR-LBD ARE aromatase ATAD5 ER ER-LBD HSE MMP p53 PPAR-gamma"
_BIOINFORMATICS = "DD ENZYMES KKI OHSU Peking_1 PROTEINS PROTEINS_full"
_VISION = """
COIL-DEL COIL-RAG Cuneiform Fingerprint FIRSTMM_DB Letter-high Letter-low Letter-med MSRC_9 MSRC_21
MSRC_21C
"""
_SOCIAL = """
COLLAB dblp_ct1 dblp_ct2 DBLP_v1 deezer_ego_nets facebook_ct1 facebook_ct2 github_stargazers
highschool_ct1 highschool_ct2 IMDB-BINARY IMDB-MULTI infectious_ct1 infectious_ct2 mit_ct1 mit_ct2
REDDIT-BINARY REDDIT-MULTI-5K REDDIT-MULTI-12K reddit_threads tumblr_ct1 tumblr_ct2 twitch_egos
TWITTER-Real-Graph-Partial
"""
_SYNTHETIC = "COLORS-3 SYNTHETIC SYNTHETICnew Synthie TRIANGLES"

TU_NAMES = (
    *_MOLECULES.split(),
    *(f"Tox21_{assay}_{part}" for assay in _TOX21.split() for part in ("training", "testing", "evaluation")),
    *_BIOINFORMATICS.split(),
    *_VISION.split(),
    *_SOCIAL.split(),
    *_SYNTHETIC.split(),
)


def tu_url(name: str) -> str:
    """Return the address of a data set of the TU collection.

    >>> tu_url("MUTAG").startswith("https://")
    True
    """
    return _URL.format(name=name)
