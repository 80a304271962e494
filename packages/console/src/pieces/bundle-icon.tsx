import type { Bundle } from '@quartermaster/contract';
import { linkTo } from '../api/call.ts';
import classes from './bundle-icon.module.css';

/** The picture of a bundle; without one, the beginning of its name. */
export function BundleIcon({ bundle, size }: { bundle: Bundle; size: number }) {
  if (bundle.icon_url === null) {
    return (
      <span className={classes.letter} style={{ width: size, height: size }} aria-hidden="true">
        {bundle.name.slice(0, 1)}
      </span>
    );
  }
  const source = linkTo(`/plugins/v1/bundles/${bundle.bundle_id}/icon`);
  return <img src={source} width={size} height={size} alt="" loading="lazy" className={classes.picture} />;
}
