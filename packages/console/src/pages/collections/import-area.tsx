import { type Collection, type Purpose, purposeNames, purposes, purposesFor } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { filesApi } from '../../api/addresses.ts';
import { addImports } from '../../api/imports.ts';
import { DropArea, type DropAreaProps } from '../../components/files/drop-area.tsx';
import { type DroppedFile, extensionOf } from '../../components/files/dropped-files.ts';
import { formatBytes } from '../../components/format.ts';
import { useLanguage } from '../../language/language.tsx';

interface ImportAreaProps extends Pick<DropAreaProps, 'around'> {
  readonly collection: Collection;
}

/** Takes files and folders, which are uploaded and become records of the collection in one step. */
export function ImportArea({ collection, around }: ImportAreaProps) {
  const { t } = useLanguage();
  const limits = useQuery({ queryKey: ['limits'], queryFn: () => filesApi.data('GET /v1/limits') });
  const fitting = purposeNames.filter((name) => purposes[name].collectionType === collection.type);
  const extensions = [...new Set(fitting.flatMap((name) => purposes[name].extensions.map((one) => `.${one}`)))];
  const mostOf = (purpose: Purpose) => limits.data?.purposes[purpose]?.max_bytes ?? Number.POSITIVE_INFINITY;

  const refuse = ({ file }: DroppedFile, purpose: Purpose | undefined) => {
    if (purpose === undefined) {
      return t('files.badFormat', { extension: extensionOf(file.name), expected: extensions.join(' ') });
    }
    const most = mostOf(purpose);
    return file.size > most ? t('files.tooLarge', { size: formatBytes(file.size), limit: formatBytes(most) }) : null;
  };
  const take = (files: readonly DroppedFile[]) => {
    const checked = files.map((dropped) => {
      const purpose = purposesFor(extensionOf(dropped.file.name)).find((name) => fitting.includes(name));
      return { ...dropped, bytes: dropped.file.size, purpose, reason: refuse(dropped, purpose) };
    });
    addImports(
      collection,
      checked.flatMap(({ file, path, purpose, reason }) =>
        purpose === undefined || reason !== null ? [] : [{ file, path, purpose }],
      ),
      checked.flatMap(({ path, bytes, reason }) => (reason === null ? [] : [{ path, bytes, reason }])),
    );
  };
  return (
    <DropArea
      extensions={extensions}
      about={t('imports.formats', { formats: extensions.join(' ') })}
      offersFolders
      around={around}
      onFiles={take}
    />
  );
}
