import type { RunPhases } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { formatMs } from '../format.ts';
import classes from './phases.module.css';

const names = ['queue_ms', 'start_ms', 'validate_ms', 'plugin_ms', 'upstream_ms'] as const;

/** What the colours of the bars mean, for a list of short ones. */
export function PhaseLegend() {
  const { t } = useLanguage();
  return (
    <ul className={classes.legend}>
      {names.map((name) => (
        <li key={name}>
          <span data-phase={name} className={classes.dot} />
          {t(`phase.${name}`)}
        </li>
      ))}
    </ul>
  );
}

/** The timings of a run: a bar, and a legend unless `isShort`. */
export function Phases({ phases, isShort = false }: { phases: RunPhases; isShort?: boolean }) {
  const { t } = useLanguage();
  const total = names.reduce((sum, name) => sum + phases[name], 0);
  const words = names.map((name) => `${t(`phase.${name}`)} ${formatMs(phases[name])}`).join(', ');
  return (
    <div className={classes.phases}>
      <div className={classes.bar} role="img" aria-label={words}>
        {names.map((name) => (
          <span key={name} data-phase={name} style={{ flexGrow: total === 0 ? 0 : phases[name] / total }} />
        ))}
      </div>
      {isShort ? null : (
        <ul className={classes.legend}>
          {names.map((name) => (
            <li key={name}>
              <span data-phase={name} className={classes.dot} />
              {t(`phase.${name}`)} <strong>{formatMs(phases[name])}</strong>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
