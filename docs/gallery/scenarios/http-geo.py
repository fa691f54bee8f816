import matplotlib.pyplot as plt

import lightlag as ll

LOSSES = ["0", "0.001", "0.01"]
PAGES = {"desktop-2024": "median page, 4 hosts", "etsi-kepler": "ETSI Kepler, 1 host"}
scenarios = []
for page in PAGES:
    for http in ("1.1", "2"):
        plain = ll.presets.geo_web(page=f"{page}.json", http=http).to_dict()
        scenarios.append(plain | {"name": f"{page} {http}"})
comparison = ll.compare(scenarios, ["cubic"], vary={"links.1.loss": LOSSES}, replications=11)
comparison.save("results/http-geo", force=True)

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for (page, about), color in zip(PAGES.items(), ["C0", "C1"], strict=True):
    for http, line in [("1.1", "o-"), ("2", "s--")]:
        rows = comparison.summary.filter(measure="completion_s", scenario=f"{page} {http}")
        axes.plot(range(3), rows["mean"], line, color=color, label=f"{about}, HTTP/{http}")
axes.set_xticks(range(3), ["0", "0.1 %", "1 %"])
axes.set(xlabel="packets lost over the satellite", ylabel="page load time (s)", ylim=(0, None))
axes.legend(frameon=False)
figure.savefig("http-geo.png", dpi=200)
