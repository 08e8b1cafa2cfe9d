/** The states that every screen has besides its content: loading, failed, empty. */
import type { ComponentChildren } from "preact";
import type { Remote } from "../store";
import { Icon, type IconName } from "./icon";

export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  );
}

export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div class="state failure" role="alert">
      <Icon name="warn" />
      <p>{error.message}</p>
      {retry && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({
  icon,
  title,
  children,
}: {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="state empty">
      <Icon name={icon} />
      <p class="state-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

/** Whatever a remote value is right now. */
export function Shown<T>({
  of,
  retry,
  lines,
  children,
}: {
  of: Remote<T>;
  retry?: () => void;
  lines?: number;
  children: (data: T) => ComponentChildren;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <Failure error={of.error} {...(retry ? { retry } : {})} />;
  return <Loading {...(lines ? { lines } : {})} />;
}
