import matplotlib.pyplot as plt

import lightlag as ll

LOSSES = ["0", "0.001", "0.01"]
vary = {"links.1.loss": LOSSES, "defaults.setup.tls": ['"1.2"', '"1.3"']}
comparison = ll.compare(["page.toml", "page-pep.toml"], ["cubic"], vary=vary, replications=11)
comparison.save("results/pep-pages", force=True)

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for scenario, line in [("no-pep", "o-"), ("pep", "s--")]:
    for tls, color in [(1.2, "C0"), (1.3, "C1")]:
        rows = comparison.summary.filter(measure="completion_s", scenario=scenario, tls=tls)
        name = "with PEPs" if scenario == "pep" else "without"
        axes.plot(range(3), rows["mean"], line, color=color, label=f"{name}, TLS {tls}")
axes.set_xticks(range(3), ["0", "0.1 %", "1 %"])
axes.set(xlabel="packets lost over the satellite", ylabel="page load time (s)", ylim=(0, None))
axes.legend(frameon=False)
figure.savefig("pep-pages.png", dpi=200)
