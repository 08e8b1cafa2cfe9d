page(({ config, main, element, callTool }) => {
  const bar = element("progress", { max: config.total ?? 100, value: config.value ?? 0 });
  const line = element("p", {}, config.message ?? "");
  main.append(bar, line);
  if (config.cancelTool) {
    const cancel = () => callTool(config.cancelTool, {});
    main.append(element("button", { onclick: cancel }, "Cancel"));
  }

  return (data) => {
    const value = data.progress ?? data.value;
    if (data.total) bar.max = data.total;
    if (value !== undefined) bar.value = value;
    if (data.message) line.textContent = data.message;
  };
});
