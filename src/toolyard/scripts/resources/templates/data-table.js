page(({ config, main, element, text }) => {
  const table = element("table");
  main.append(table);

  const show = (data) => {
    const rows = Array.isArray(data) ? data : (data.rows ?? data.items ?? config.rows ?? []);
    const columns = (config.columns ?? Object.keys(rows[0] ?? {})).map((column) =>
      typeof column === "string" ? { key: column } : column,
    );
    const heads = columns.map((column) => element("th", {}, text(column.label ?? column.key)));
    const lines = rows.map((row) =>
      element("tr", {}, ...columns.map((column) => element("td", {}, text(row[column.key])))),
    );
    table.replaceChildren(
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...lines),
    );
  };

  show(config.rows ?? []);
  return show;
});
