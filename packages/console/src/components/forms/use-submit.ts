import { type FormEvent, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { describeFailure } from '../failure.tsx';

/** State of a form: `submit` calls `action`, `busy` is true until it ends, `failure` is the error of the last attempt. */
export function useSubmit(action: () => Promise<unknown>) {
  const { explain } = useLanguage();
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      await action();
    } catch (error) {
      setFailure(describeFailure(error, explain));
    }
    setBusy(false);
  };
  return { failure, busy, submit };
}
