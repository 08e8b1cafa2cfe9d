page(({ config, main, element, text }) => {
  const show = (data) => {
    const columns = data.columns ?? config.columns ?? [];
    const cards = data.cards ?? data.items ?? [];
    const cardsOf = (column) =>
      column.cards ??
      cards.filter((card) => (card.column ?? card.status) === (column.id ?? column));
    const sections = columns.map((column) =>
      element(
        "section",
        {},
        element("h2", {}, text(column.title ?? column.label ?? column)),
        ...cardsOf(column).map((card) =>
          element("div", { className: "card" }, text(card.title ?? card)),
        ),
      ),
    );
    main.replaceChildren(element("div", { className: "board" }, ...sections));
  };

  show(config);
  return show;
});
