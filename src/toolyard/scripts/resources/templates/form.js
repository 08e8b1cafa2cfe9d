page(({ config, main, element, text, callTool }) => {
  const fields = config.fields ?? [];
  const form = element("form");
  const status = element("p");

  const inputOf = ({ name, type, options, rows }) => {
    if (type === "select" || options) {
      const choices = (options ?? []).map((option) =>
        element("option", { value: option.value ?? option }, text(option.label ?? option)),
      );
      return element("select", { name }, ...choices);
    }
    if (type === "textarea") return element("textarea", { name, rows: rows ?? 4 });
    return element("input", { name, type: type ?? "text" });
  };

  for (const field of fields) {
    const input = inputOf(field);
    if (field.type === "checkbox") input.checked = !!field.default;
    else if (field.default !== undefined) input.value = field.default;
    input.required = !!field.required;
    if (field.placeholder) input.placeholder = field.placeholder;
    form.append(element("label", {}, `${field.label ?? field.name} `, input));
  }
  form.append(element("button", { type: "submit" }, config.submitLabel ?? "Submit"));

  const enteredIn = ({ name, type }) => {
    const input = form.elements[name];
    if (type === "checkbox") return input.checked;
    return type === "number" ? Number(input.value) : input.value;
  };

  form.onsubmit = (event) => {
    event.preventDefault();
    const tool = config.submitTool ?? config.tool;
    if (!tool) return;
    const args = Object.fromEntries(fields.map((field) => [field.name, enteredIn(field)]));
    const report = (line) => {
      status.textContent = line;
    };
    callTool(tool, args).then(
      () => report(config.successMessage ?? "Done"),
      (error) => report(error.message),
    );
  };
  main.append(form, status);
});
