# SPDX-License-Identifier: LGPL-2.1-or-later
"""A figure of bars: a panel for each claim over one axis, a bar for each choice,
and a line where the paper's number is."""
from lab import measures
from lab.figures import CHOICES, plt, small_svg


def draw(found, figure, path, claims):
    """found: results of one runner; claims: those whose names the figure has."""
    chosen = [next(c for c in claims if c.get('name') == name)
              for name in figure['claims']]
    axis = chosen[0]['table'][0]
    names = list(dict.fromkeys(r.run.choice[axis] for r in found))
    fig, panels = plt.subplots(1, len(chosen), figsize=(2.4 * len(chosen), 2.6))
    for panel, claim in zip(panels, chosen):
        for x, name in enumerate(names):
            values = [measures.MEASURES[claim['measure']](r, claim)
                      for r in found if r.run.choice[axis] == name]
            mean = measures.mean(values)
            panel.bar(x, mean, 0.7, color=CHOICES[x], zorder=2)
            panel.vlines(x, min(values), max(values), color='black', lw=1,
                         zorder=3)
            paper = measures.for_choice(claim, {axis: name}).get('paper')
            if paper:
                panel.hlines(float(paper.split()[0]), x - 0.45, x + 0.45,
                             color='black', lw=1.5, ls=(0, (2, 1)), zorder=4)
        panel.set_xticks(range(len(names)), names, rotation=45, ha='right')
        panel.set_title(claim['label'])
        panel.grid(axis='x', visible=False)
        panel.set_ylim(bottom=0)
    small_svg.save(fig, path.with_name(path.name + '.svg'))
    plt.close(fig)
