import type { Bundle } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { pluginsApi } from '../../api/addresses.ts';
import classes from './bundle-icon.module.css';

/** The icon of a bundle, or the first letter of its name. */
export function BundleIcon({ bundle, size }: { bundle: Bundle; size: number }) {
  const path = { bundle_id: bundle.bundle_id };
  const picture = useQuery({
    queryKey: ['bundle-icons', bundle.bundle_id],
    queryFn: async () =>
      readAsDataUrl(await (await pluginsApi.send('GET /v1/bundles/{bundle_id}/icon', { path })).blob()),
    enabled: bundle.icon_url !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (picture.data === undefined) {
    return (
      <span className={classes.letter} style={{ width: size, height: size }} aria-hidden="true">
        {bundle.name.slice(0, 1)}
      </span>
    );
  }
  return <img src={picture.data} width={size} height={size} alt="" className={classes.picture} />;
}

/** The content as a `data:` address: an `img` element cannot send the headers of a session. */
function readAsDataUrl(content: Blob): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The picture cannot be read.')));
    reader.readAsDataURL(content);
  });
}
