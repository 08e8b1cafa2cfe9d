page(({ config, main, element, text }) => {
  const view = element("pre");
  main.append(view);

  const compared = (data) => {
    const before = text(data.before ?? data.old).split("\n");
    const after = text(data.after ?? data.new).split("\n");
    return [
      ...before.filter((line) => !after.includes(line)).map((line) => `-${line}`),
      ...after.map((line) => (before.includes(line) ? ` ${line}` : `+${line}`)),
    ];
  };

  const linesOf = (data) => {
    if (typeof data === "string") return data.split("\n");
    return data.diff ? data.diff.split("\n") : compared(data);
  };

  const CLASSES = { "+": "add", "-": "del" };
  const show = (data) =>
    view.replaceChildren(
      ...linesOf(data).map((line) =>
        element("div", { className: CLASSES[line[0]] ?? "" }, line || " "),
      ),
    );

  show(config);
  return show;
});
