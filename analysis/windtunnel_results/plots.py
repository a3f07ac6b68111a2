"""Three plots of a result file: Pareto front, memory by stage, useful time. Draws what the file has data for."""
import os

from .packages import need
from .read import read

GIB = 2.0 ** 30
DAY = 86400.0
COMPONENTS = ("weights", "gradients", "optimizer", "activations", "logits", "buffers", "reserve")


def first_table(result, *paths):
    """The first of the tables that the file has, with at least one row; None otherwise."""
    for path in paths:
        if path in result and len(result[path]) > 0:
            return result[path]
    return None


def pareto_front(result, axes):
    """Tokens per second against memory: the front, and the best designs beside it."""
    front = first_table(result, "search/pareto")
    if front is None:
        return False
    best = first_table(result, "search/best")
    if best is not None:
        axes.scatter(best["memory_bytes"] / GIB, best["tokens_per_second"], s=14, color="0.6", label="best designs")
    front = front.sort_values("memory_bytes")
    axes.plot(front["memory_bytes"] / GIB, front["tokens_per_second"], "o-", color="C0", label="Pareto front")
    axes.set_xlabel("memory of a card of the fullest stage [GiB]")
    axes.set_ylabel("tokens per second")
    axes.set_title("Layouts that no other one beats")
    axes.legend()
    return True


def memory_by_stage(result, axes):
    """Stacked components of each pipeline stage, with the memory that the job may use."""
    memory = first_table(result, "train/memory")
    if memory is None:
        return False
    memory = memory[memory["point"] == memory["point"].iloc[0]]
    bottom = 0.0
    for component in COMPONENTS:
        height = memory[f"{component}_bytes"].to_numpy() / GIB
        axes.bar(memory["stage"], height, bottom=bottom, label=component)
        bottom = bottom + height
    summary = first_table(result, "train/summary")
    if summary is not None:
        limit = summary["usable_memory_bytes"].iloc[0] / GIB
        axes.axhline(limit, color="black", linestyle="--", label=f"usable: {limit:.1f} GiB")
    axes.set_xlabel("pipeline stage")
    axes.set_ylabel("memory of a card [GiB]")
    axes.set_title("Memory by stage")
    axes.legend(fontsize="small", ncol=2)
    return True


def useful_time(result, axes):
    """Useful share of the wall clock over the quantiles of trials, a band for each variant of the failures."""
    quantiles = first_table(result, "rehearsal/quantiles", "avail/quantiles")
    summary = first_table(result, "rehearsal/summary", "avail/summary")
    if quantiles is None or summary is None:
        return False
    for number, (variant, rows) in enumerate(quantiles.groupby("variant", observed=True)):
        rows = rows.sort_values("fraction")
        colour = f"C{number % 10}"
        axes.plot(100 * rows["fraction"], 100 * rows["goodput"], "o-", color=colour, label=str(variant))
        axes.fill_between(100 * rows["fraction"], 100 * rows["goodput_low"], 100 * rows["goodput_high"],
                          color=colour, alpha=0.25)
        mean = summary[summary["variant"] == variant]["goodput"].iloc[0]
        axes.axhline(100 * mean, color=colour, linestyle=":", linewidth=1)
    axes.set_xlabel("share of trials at or below [%]")
    axes.set_ylabel("useful time [% of the wall clock]")
    axes.set_title("Useful time under failures (bands: 95 % intervals; dotted: means)")
    axes.legend()
    return True


PLOTS = {"pareto_front": pareto_front, "memory_by_stage": memory_by_stage, "useful_time": useful_time}


def write_plots(path, folder):
    """PNG and SVG of every plot that the file has data for: (names written, names without data)."""
    matplotlib = need("matplotlib")
    matplotlib.use("Agg")
    pyplot = need("matplotlib.pyplot")
    result = read(path)
    os.makedirs(folder, exist_ok=True)
    written, without = [], []
    for name, draw in PLOTS.items():
        figure, axes = pyplot.subplots(figsize=(8, 5), constrained_layout=True)
        if draw(result, axes):
            for ending in ("png", "svg"):
                figure.savefig(os.path.join(folder, f"{name}.{ending}"), dpi=150)
            written.append(name)
        else:
            without.append(name)
        pyplot.close(figure)
    return written, without
