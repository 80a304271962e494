import { Button, Text, Title } from '@mantine/core';
import type { Artifact } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sendForArtifact } from '../../api/artifacts.ts';
import { useDownload } from '../../api/downloads.ts';
import { useLanguage } from '../../language/language.tsx';
import { formatBytes, formatTime } from '../format.ts';
import { Icon } from '../icons.tsx';
import classes from './artifact-list.module.css';
import { isPicture, readPicture, type ShownArtifact } from './read-picture.ts';

/** The pictures of a result, and its other files as downloads. */
export function ArtifactList({ artifacts }: { artifacts: readonly Artifact[] }) {
  const { t } = useLanguage();
  const distinct = [...new Map(artifacts.map((artifact) => [artifact.artifact_id, artifact])).values()];
  if (distinct.length === 0) return null;
  return (
    <section aria-labelledby="artifacts">
      <Title order={3} size="h6" id="artifacts" mt="md" mb="xs">
        {t('artifacts.title')}
      </Title>
      <ul className={classes.list}>
        {distinct.map((artifact) => (
          <li key={artifact.artifact_id}>
            <ArtifactFigure artifact={artifact} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ArtifactFigure({ artifact }: { artifact: Artifact }) {
  const { t } = useLanguage();
  const { artifact_id: id, file_name: name } = artifact;
  const [isBroken, setBroken] = useState(false);
  const hasExpired = artifact.expires_timestamp <= Date.now();
  const read = useQuery({
    queryKey: ['artifacts', id],
    queryFn: () => readPicture(artifact),
    enabled: isPicture(artifact) && !hasExpired,
    staleTime: Number.POSITIVE_INFINITY,
    // A picture may have megabytes.
    gcTime: 30_000,
  });
  const shown: ShownArtifact | undefined = isBroken ? { kind: 'unsafe' } : read.data;
  const isGone = hasExpired || shown?.kind === 'gone';
  return (
    <figure className={classes.item} data-name={name} data-state={isGone ? 'gone' : shown?.kind}>
      {shown?.kind === 'picture' ? (
        <img
          className={classes.picture}
          src={shown.url}
          alt={shown.title === '' ? t('artifacts.picture', { name }) : shown.title}
          onError={() => setBroken(true)}
        />
      ) : null}
      {shown?.kind === 'unsafe' && !isGone ? (
        <Text size="sm" mb="xs">
          {t('artifacts.notShown')}
        </Text>
      ) : null}
      <ArtifactFacts artifact={artifact} isGone={isGone} />
    </figure>
  );
}

function ArtifactFacts({ artifact, isGone }: { artifact: Artifact; isGone: boolean }) {
  const { t, code } = useLanguage();
  const { busy, download } = useDownload();
  const { file_name: name, media_type: type, bytes, expires_timestamp: expires } = artifact;
  return (
    <figcaption className={classes.facts}>
      <Text size="sm" component="div">
        <strong>{name}</strong> · {type} · {formatBytes(bytes)}
        <Text size="xs" c="dimmed">
          {isGone ? t('artifacts.expired') : t('run.resultKept', { time: formatTime(expires, code) })}
        </Text>
      </Text>
      {isGone ? null : (
        <Button
          variant="default"
          size="xs"
          loading={busy}
          leftSection={<Icon name="download" size={16} />}
          onClick={() => void download(name, () => sendForArtifact(artifact))}
        >
          {t('files.download', { name })}
        </Button>
      )}
    </figcaption>
  );
}
