/** The page's icons: strokes on a grid of 16, in the colour of the text beside them. */
const PATHS = {
  overview: "M2.5 2.5h4.5v5h-4.5zM9 2.5h4.5v3H9zM9 8h4.5v5.5H9zM2.5 10h4.5v3.5h-4.5z",
  explore: "M2.5 3.5h5M5 6.5v6M5 8h3.5M5 12.5h3.5M8.5 6.5h5v3h-5zM8.5 11h5v3h-5z",
  traffic: "M1.5 8h3l2-5 3 10 2-5h3",
  history: "M8 4.5V8l2.5 1.5M3 4.5A6 6 0 1 1 2 8M2.5 2v3h3",
  registry: "M4 1.5h5.5l3 3v10H4zM9 1.5V5h3.5M6.5 8h3.5M6.5 11h3.5",
  connect:
    "M5.5 10.5l5-5M6.5 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11 9M5 7L3.5 8.5a3 3 0 0 0 4.5 4.5l1.5-1.5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3.5 3.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M3 8.5l3.5 3.5L13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  right: "M6 3.5L10.5 8 6 12.5",
  down: "M3.5 6L8 10.5 12.5 6",
  up: "M3.5 10L8 5.500 12.500 10",
  back: "M9.5 3.5L5 8l4.5 4.5",
  play: "M4.5 2.5l8.5 5.5-8.5 5.5z",
  stop: "M4 4h8v8H4z",
  plus: "M8 3v10M3 8h10",
  warn: "M8 2.5l6 11H2zM8 6.5v3.5M8 11.8v.2",
  tool: "M10.5 2.5a3.5 3.5 0 0 0-3.4 4.6L2.5 11.700l1.800 1.800 4.600-4.600a3.500 3.500 0 0 0 4.400-4.600L11 6.500 9.500 5z",
  resource: "M3.500 1.500h6l3 3v10h-9zM9 1.500V5h3.500",
  prompt: "M2 3h12v8H7.500L4.500 13.500V11H2z",
  template:
    "M5 2.500c-2 0-1.500 2-1.500 3S3 8 2 8c1 0 1.500 1.500 1.500 2.500s-.5 3 1.500 3M11 2.500c2 0 1.500 2 1.500 3S13 8 14 8c-1 0-1.500 1.500-1.500 2.500s.5 3-1.500 3",
  server: "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.1M5 11h.1",
  graph: "M2 8h3M11 4H8.500v8H11M5 8h3.500M1.500 6.500h3v3h-3zM11 2.500h3v3h-3zM11 10.500h3v3h-3z",
  tree: "M3 2.500v9.500h3M3 7h3M8 5.500h5.500v3H8zM8 10.500h5.500v3H8z",
  pause: "M5 3v10M11 3v10",
  trash: "M3 4.500h10M6 4.500V2.500h4v2M4.500 4.500l.5 9h6l.5-9M7 7v4M9 7v4",
  settings: "M2 4.5h6M11 4.5h3M9.500 3v3M2 11.500h3M8 11.500h6M6.500 10v3",
  half: "M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.500 3.500l1 1M11.500 11.500l1 1M12.500 3.500l-1 1M4.500 11.500l-1 1",
  moon: "M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500z",
  shape: "M2.500 13.500l1-3.500 7-7 2.500 2.500-7 7zM9 4.500l2.500 2.500M2.500 14.500h11",
  lock: "M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500",
  export: "M8 2v8M5 5l3-3 3 3M3 10v3.500h10V10",
  again: "M13 4.500A6 6 0 1 0 14 8M13.500 2v3h-3",
} as const;

export type IconName = keyof typeof PATHS;

/** As public/icon.svg has it; part of the page, because an image of its own takes a request. */
export function Logo({ size }: { size: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1f7a5c" />
      <path
        d="M8 11h16M16 11v13M11 11v5M21 11v5"
        stroke="#fff"
        stroke-width="2.6"
        stroke-linecap="round"
        fill="none"
      />
    </svg>
  );
}

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
