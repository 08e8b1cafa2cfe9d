page(({ config, main, element, text }) => {
  const branch = (node) => {
    const children = node.children ?? [];
    const name = text(node.label ?? node.name ?? node);
    if (!children.length) return element("li", {}, name);
    const list = element("ul", {}, ...children.map(branch));
    const details = element(
      "details",
      { open: !!config.expandAll },
      element("summary", {}, name),
      list,
    );
    return element("li", {}, details);
  };

  const show = (data) => {
    const nodes = Array.isArray(data) ? data : (data.nodes ?? data.children ?? [data]);
    main.replaceChildren(element("ul", {}, ...nodes.map(branch)));
  };

  show(config.nodes ?? []);
  return show;
});
