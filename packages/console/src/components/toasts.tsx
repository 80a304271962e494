import { Button, CloseButton } from '@mantine/core';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { useLanguage } from '../language/language.tsx';
import { describeFailure } from './failure.tsx';
import classes from './toasts.module.css';

/** A button of a notification. */
export interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
  readonly action: ToastAction | undefined;
}
interface Toasts {
  readonly say: (text: string, action?: ToastAction) => void;
  /** Shows an error. */
  readonly showError: (error: unknown) => void;
}

const ToastContext = createContext<Toasts | null>(null);
const shownMs = 6000;
const withActionMs = 15_000;
let lastId = 0;

/** Short notifications, announced by screen readers. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const { t, explain } = useLanguage();
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const remove = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const add = useCallback(
    (text: string, bad: boolean, action?: ToastAction) => {
      const id = ++lastId;
      setToasts((all) => [...all.slice(-3), { id, text, bad, action }]);
      setTimeout(() => remove(id), action === undefined ? shownMs : withActionMs);
    },
    [remove],
  );
  const value = useMemo<Toasts>(
    () => ({
      say: (text, action) => add(text, false, action),
      showError: (error) => add(describeFailure(error, explain), true),
    }),
    [add, explain],
  );
  return (
    <ToastContext value={value}>
      {children}
      <div className={classes.stack} role="status" aria-live="polite">
        {toasts.map((toast) => (
          <div key={toast.id} className={classes.toast} data-bad={toast.bad || undefined}>
            <span>{toast.text}</span>
            <ActionButton toast={toast} onDone={() => remove(toast.id)} />
            <CloseButton size="sm" aria-label={t('action.dismiss')} onClick={() => remove(toast.id)} />
          </div>
        ))}
      </div>
    </ToastContext>
  );
}

function ActionButton({ toast: { action }, onDone }: { toast: Toast; onDone: () => void }) {
  if (action === undefined) return null;
  const run = () => {
    onDone();
    action.run();
  };
  return (
    <Button size="compact-xs" variant="default" ml="auto" onClick={run}>
      {action.label}
    </Button>
  );
}

export function useToasts(): Toasts {
  const toasts = useContext(ToastContext);
  if (toasts === null) throw new Error('useToasts outside of ToastProvider');
  return toasts;
}
