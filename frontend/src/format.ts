/** Numbers and times, short. */

/** With commas, as the page is in English; the browser's own way takes 40 ms when first used. */
export function thousands(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value < 1) return `${value.toFixed(2)} ms`;
  if (value < 100) return `${value.toFixed(1)} ms`;
  if (value < 10_000) return `${thousands(Math.round(value))} ms`;
  return `${(value / 1000).toFixed(1)} s`;
}

export function count(value: number): string {
  return value < 100_000 ? thousands(value) : `${thousands(Math.round(value / 1000))}k`;
}

export function tokens(value: number): string {
  return value < 10_000 ? `≈${thousands(value)}` : `≈${(value / 1000).toFixed(1)}k`;
}

export function clock(seconds: number): string {
  const time = new Date(seconds * 1000);
  return time.toLocaleTimeString([], { hour12: false });
}

export function dayAndClock(milliseconds: number): string {
  const time = new Date(milliseconds);
  const today = time.toDateString() === new Date().toDateString();
  const day = today ? "" : `${time.toLocaleDateString([], { month: "short", day: "numeric" })} `;
  return day + time.toLocaleTimeString([], { hour12: false });
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** The server's own estimate: four characters a token. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}
