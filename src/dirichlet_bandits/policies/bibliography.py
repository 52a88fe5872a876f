"""The papers behind the policies, as BibTeX entries.

Each row holds a label as it occurs in ``Policy.reference``, the kind of entry, authors, title, venue, and further
fields.
"""

from typing import Final

_ROWS: Final = """
Agrawal and Goyal (2012) | inproceedings | Agrawal, Shipra and Goyal, Navin | Analysis of {T}hompson sampling for the multi-armed bandit problem | Conference on Learning Theory
Ashutosh et al. (2021) | inproceedings | Ashutosh, Kumar and Nair, Jayakrishnan and Kagrecha, Anmol and Jagannathan, Krishna | Bandit algorithms: letting go of logarithmic regret for statistical robustness | Artificial Intelligence and Statistics
Auer et al. (2002) | article | Auer, Peter and Cesa-Bianchi, Nicol{\\`o} and Freund, Yoav and Schapire, Robert E. | The nonstochastic multiarmed bandit problem | SIAM Journal on Computing | volume=32 | pages=48--77 | doi=10.1137/S0097539701398375
Auer, Cesa-Bianchi and Fischer (2002) | article | Auer, Peter and Cesa-Bianchi, Nicol{\\`o} and Fischer, Paul | Finite-time analysis of the multiarmed bandit problem | Machine Learning | volume=47 | pages=235--256 | doi=10.1023/A:1013689704352
Baransi, Maillard and Mannor (2014) | inproceedings | Baransi, Akram and Maillard, Odalric-Ambrym and Mannor, Shie | Sub-sampling for multi-armed bandits | European Conference on Machine Learning
Baudry, Gautron et al. (2021) | inproceedings | Baudry, Dorian and Gautron, Romain and Kaufmann, Emilie and Maillard, Odalric-Ambrym | Optimal {T}hompson sampling strategies for support-aware {CVaR} bandits | International Conference on Machine Learning
Baudry, Kaufmann and Maillard (2020) | inproceedings | Baudry, Dorian and Kaufmann, Emilie and Maillard, Odalric-Ambrym | Sub-sampling for efficient non-parametric bandit exploration | Advances in Neural Information Processing Systems
Baudry, Russac and Cappé (2021) | inproceedings | Baudry, Dorian and Russac, Yoan and Capp{\\'e}, Olivier | On limited-memory subsampling strategies for bandits | International Conference on Machine Learning
Baudry, Saux and Maillard (2021) | inproceedings | Baudry, Dorian and Saux, Patrick and Maillard, Odalric-Ambrym | From optimality to robustness: {D}irichlet sampling strategies in stochastic bandits | Advances in Neural Information Processing Systems
Besson et al. (2022) | article | Besson, Lilian and Kaufmann, Emilie and Maillard, Odalric-Ambrym and Seznec, Julien | Efficient change-point detection for tackling piecewise-stationary bandits | Journal of Machine Learning Research | volume=23
Bian and Jun (2022) | inproceedings | Bian, Jie and Jun, Kwang-Sung | Maillard sampling: {B}oltzmann exploration done optimally | Artificial Intelligence and Statistics
Cao et al. (2019) | inproceedings | Cao, Yang and Wen, Zheng and Kveton, Branislav and Xie, Yao | Nearly optimal adaptive procedure with change detection for piecewise-stationary bandit | Artificial Intelligence and Statistics
Cappé et al. (2013) | article | Capp{\\'e}, Olivier and Garivier, Aur{\\'e}lien and Maillard, Odalric-Ambrym and Munos, R{\\'e}mi and Stoltz, Gilles | {K}ullback--{L}eibler upper confidence bounds for optimal sequential allocation | The Annals of Statistics | volume=41 | pages=1516--1541 | doi=10.1214/13-AOS1119
Cassel, Mannor and Zeevi (2018) | inproceedings | Cassel, Asaf and Mannor, Shie and Zeevi, Assaf | A general approach to multi-armed bandits under risk criteria | Conference on Learning Theory
Chan (2020) | article | Chan, Hock Peng | The multi-armed bandit problem: an efficient nonparametric solution | The Annals of Statistics | volume=48 | pages=346--373 | doi=10.1214/19-AOS1809
Degenne et al. (2019) | inproceedings | Degenne, R{\\'e}my and Nedelec, Thomas and Calauz{\\`e}nes, Cl{\\'e}ment and Perchet, Vianney | Bridging the gap between regret minimization and best arm identification, with application to {A/B} tests | Artificial Intelligence and Statistics
Desautels et al. (2014) | article | Desautels, Thomas and Krause, Andreas and Burdick, Joel W. | Parallelizing exploration-exploitation tradeoffs in {G}aussian process bandit optimization | Journal of Machine Learning Research | volume=15
Eckles and Kaptein (2014) | misc | Eckles, Dean and Kaptein, Maurits | Thompson sampling with the online bootstrap | arXiv:1410.4009
Fisher (1935) | book | Fisher, Ronald A. | The design of experiments | Oliver and Boyd
Garivier and Moulines (2011) | inproceedings | Garivier, Aur{\\'e}lien and Moulines, Eric | On upper-confidence bound policies for switching bandit problems | Algorithmic Learning Theory
Garivier et al. (2022) | article | Garivier, Aur{\\'e}lien and Hadiji, H{\\'e}di and M{\\'e}nard, Pierre and Stoltz, Gilles | {KL-UCB}-switch: optimal regret bounds for stochastic bandits from both a distribution-dependent and a distribution-free viewpoints | Journal of Machine Learning Research | volume=23
Gerogiannis et al. (2025) | misc | Gerogiannis, Argyrios and Huang, Yu-Han and Bose, Subhonmesh and Veeravalli, Venugopal V. | Detection augmented bandit procedures for piecewise stationary {MAB}s | arXiv:2501.19401
Honda and Takemura (2010) | inproceedings | Honda, Junya and Takemura, Akimichi | An asymptotically optimal bandit algorithm for bounded support models | Conference on Learning Theory
Honda and Takemura (2011) | article | Honda, Junya and Takemura, Akimichi | An asymptotically optimal policy for finite support models in the multiarmed bandit problem | Machine Learning | volume=85 | pages=361--391 | doi=10.1007/s10994-011-5257-4
Honda and Takemura (2015) | article | Honda, Junya and Takemura, Akimichi | Non-asymptotic analysis of a new bandit algorithm for semi-bounded rewards | Journal of Machine Learning Research | volume=16 | pages=3721--3756
Joulani, György and Szepesvári (2013) | inproceedings | Joulani, Pooria and Gy{\\"o}rgy, Andr{\\'a}s and Szepesv{\\'a}ri, Csaba | Online learning under delayed feedback | International Conference on Machine Learning
Jourdan et al. (2022) | inproceedings | Jourdan, Marc and Degenne, R{\\'e}my and Baudry, Dorian and de Heide, Rianne and Kaufmann, Emilie | Top two algorithms revisited | Advances in Neural Information Processing Systems
Korda, Kaufmann and Munos (2013) | inproceedings | Korda, Nathaniel and Kaufmann, Emilie and Munos, R{\\'e}mi | Thompson sampling for 1-dimensional exponential family bandits | Advances in Neural Information Processing Systems
Kveton, Szepesvari, Ghavamzadeh et al. (2019) | inproceedings | Kveton, Branislav and Szepesv{\\'a}ri, Csaba and Ghavamzadeh, Mohammad and Boutilier, Craig | Perturbed-history exploration in stochastic multi-armed bandits | International Joint Conference on Artificial Intelligence
Kveton, Szepesvari, Vaswani et al. (2019) | inproceedings | Kveton, Branislav and Szepesv{\\'a}ri, Csaba and Vaswani, Sharan and Wen, Zheng and Lattimore, Tor and Ghavamzadeh, Mohammad | Garbage in, reward out: bootstrapping exploration in multi-armed bandits | International Conference on Machine Learning
Liu, Lee and Shroff (2018) | inproceedings | Liu, Fang and Lee, Joohyun and Shroff, Ness | A change-detection based framework for piecewise-stationary multi-armed bandit problem | {AAAI} Conference on Artificial Intelligence
Maillard (2013) | phdthesis | Maillard, Odalric-Ambrym | Apprentissage s{\\'e}quentiel: bandits, statistique et renforcement | Universit{\\'e} de Lille 1
Menard and Garivier (2017) | inproceedings | M{\\'e}nard, Pierre and Garivier, Aur{\\'e}lien | A minimax and asymptotically optimal algorithm for stochastic bandits | Algorithmic Learning Theory
Osband and Van Roy (2015) | misc | Osband, Ian and Van Roy, Benjamin | Bootstrapped {T}hompson sampling and deep exploration | arXiv:1507.00300
Qin, Jun and Zhang (2023) | inproceedings | Qin, Hao and Jun, Kwang-Sung and Zhang, Chicheng | Kullback--{L}eibler {M}aillard sampling for multi-armed bandits with bounded rewards | Advances in Neural Information Processing Systems
Raj and Kalyani (2017) | misc | Raj, Vishnu and Kalyani, Sheetal | Taming non-stationary bandits: a {B}ayesian approach | arXiv:1707.09727
Riou and Honda (2020) | inproceedings | Riou, Charles and Honda, Junya | Bandit algorithms based on {T}hompson sampling for bounded reward distributions | Algorithmic Learning Theory
Saber, Menard and Maillard (2021) | inproceedings | Saber, Hassan and M{\\'e}nard, Pierre and Maillard, Odalric-Ambrym | Indexed minimum empirical divergence for unimodal bandits | Advances in Neural Information Processing Systems
Sutton and Barto (2018) | book | Sutton, Richard S. and Barto, Andrew G. | Reinforcement learning: an introduction | MIT Press
Tamkin et al. (2019) | inproceedings | Tamkin, Alex and Keramati, Ramtin and Dann, Christoph and Brunskill, Emma | Distributionally-aware exploration for {CVaR} bandits | {NeurIPS} Workshop on Safety and Robustness in Decision Making
Thompson (1933) | article | Thompson, William R. | On the likelihood that one unknown probability exceeds another in view of the evidence of two samples | Biometrika | volume=25 | pages=285--294 | doi=10.1093/biomet/25.3-4.285
Trovò et al. (2020) | article | Trov{\\`o}, Francesco and Paladino, Stefano and Restelli, Marcello and Gatti, Nicola | Sliding-window {T}hompson sampling for non-stationary settings | Journal of Artificial Intelligence Research | volume=68 | pages=311--364 | doi=10.1613/jair.1.11407
Wan et al. (2023) | inproceedings | Wan, Runzhe and Wei, Haoyu and Kveton, Branislav and Song, Rui | Multiplier bootstrap-based exploration | International Conference on Machine Learning
Wang et al. (2020) | misc | Wang, Chi-Hua and Yu, Yang and Hao, Botao and Cheng, Guang | Residual bootstrap exploration for bandit algorithms | arXiv:2002.08436
"""  # noqa: E501
_VENUE: Final = {
    "article": "journal",
    "book": "publisher",
    "inproceedings": "booktitle",
    "misc": "howpublished",
    "phdthesis": "school",
}


def bibtex(reference: str) -> str:
    """Return the BibTeX entries of the papers that a ``Policy.reference`` names.

    >>> print(bibtex("Riou and Honda (2020)"))
    @inproceedings{riou2020,
      author = {Riou, Charles and Honda, Junya},
      title = {Bandit algorithms based on {T}hompson sampling for bounded reward distributions},
      booktitle = {Algorithmic Learning Theory},
      year = {2020},
    }
    """
    found = {row.split(" | ", 1)[0]: row.split(" | ")[1:] for row in _ROWS.strip().splitlines()}
    return "\n\n".join(_entry(label, *found[label]) for label in reference.split("; ") if label in found)


def _entry(label: str, kind: str, author: str, title: str, venue: str, *more: str) -> str:
    year = label[-5:-1]
    key = "".join(letter for letter in author.split(",")[0].lower() if letter.isascii() and letter.isalpha())
    fields = {
        "author": author,
        "title": title,
        _VENUE[kind]: venue,
        "year": year,
        **dict(x.split("=", 1) for x in more),
    }
    body = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{kind}{{{key}{year},\n{body}}}"
