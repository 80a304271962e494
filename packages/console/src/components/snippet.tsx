import { useLanguage } from '../language/language.tsx';
import { CopyButton } from './copy-button.tsx';
import classes from './snippet.module.css';

/** Code with a copy button. */
export function Snippet({ code, label }: { code: string; label: string }) {
  const { t } = useLanguage();
  return (
    <figure className={classes.snippet}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>{code}</pre>
      </section>
      <div className={classes.copy}>
        <CopyButton text={code} what={`${t('action.copy')}: ${label}`} />
      </div>
    </figure>
  );
}
