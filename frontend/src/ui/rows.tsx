/** A list of any length: only the rows in view exist. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const BEYOND = 8;

export function Rows({
  count,
  height,
  render,
  label,
  keepInView,
}: {
  count: number;
  height: number;
  render: (index: number) => ComponentChildren;
  label: string;
  keepInView?: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);
  useEffect(() => {
    const element = box.current;
    if (!element || keepInView === undefined || keepInView < 0) return;
    const top = keepInView * height;
    if (top < element.scrollTop) element.scrollTop = top;
    if (top + height > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height - element.clientHeight;
  }, [keepInView, height]);
  const first = Math.max(0, Math.floor(view.top / height) - BEYOND);
  const last = Math.min(count, Math.ceil((view.top + view.height) / height) + BEYOND);
  const shown = [];
  for (let index = first; index < last; index++) {
    shown.push(
      <div class="row" key={index} style={{ top: `${index * height}px`, height: `${height}px` }}>
        {render(index)}
      </div>,
    );
  }
  return (
    <div class="rows" ref={box} aria-label={label} role="group">
      <div class="rows-inner" style={{ height: `${count * height}px` }}>
        {shown}
      </div>
    </div>
  );
}
