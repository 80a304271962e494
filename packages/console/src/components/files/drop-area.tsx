import { Button, Text } from '@mantine/core';
import { type DragEvent, type ReactNode, type RefObject, useRef, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { Icon } from '../icons.tsx';
import { useToasts } from '../toasts.tsx';
import classes from './drop-area.module.css';
import { type DroppedFile, maxDroppedFiles, readChosen, readDropped } from './dropped-files.ts';

export interface Choose {
  readonly files: () => void;
  readonly folder: () => void;
}

export interface DropAreaProps {
  /** Extensions that the file dialog offers, such as `.md`. */
  readonly extensions: readonly string[];
  /** What may be dropped. */
  readonly about: string;
  /** Choices of the user. */
  readonly children?: ReactNode;
  /** Whether to offer a button that chooses a folder. */
  readonly offersFolders?: boolean;
  /** What the area surrounds instead of its own content. It gets functions that open the dialogs, and `about`. */
  readonly around?: ((choose: Choose, about: string) => ReactNode) | undefined;
  readonly onFiles: (files: readonly DroppedFile[]) => void;
}

/** Takes dropped files and folders, and files that are chosen with the keyboard or the mouse. */
export function DropArea({ extensions, about, children, offersFolders = false, around, onFiles }: DropAreaProps) {
  const { t } = useLanguage();
  const { showError } = useToasts();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const take = (dropped: readonly DroppedFile[]) => {
    if (dropped.length > maxDroppedFiles) showError(t('files.tooMany', { most: maxDroppedFiles }));
    onFiles(dropped.slice(0, maxDroppedFiles));
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void readDropped(event.dataTransfer).then(take, showError);
  };
  const choose = { files: () => files.current?.click(), folder: () => folder.current?.click() };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the buttons inside do the same.
    <div
      className={around === undefined ? classes.drop : classes.around}
      data-over={isOver || undefined}
      data-testid="drop-area"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {around === undefined ? (
        <>
          <Icon name="upload" size={28} />
          <div className={classes.line}>
            <Text>{t(offersFolders ? 'files.dropFolders' : 'files.drop')}</Text>
            <Button size="compact-md" variant="light" onClick={choose.files}>
              {t('files.choose')}
            </Button>
            {offersFolders ? (
              <Button size="compact-md" variant="light" onClick={choose.folder}>
                {t('files.chooseFolder')}
              </Button>
            ) : null}
          </div>
          <Text size="xs" c="dimmed">
            {about}
          </Text>
          {children}
        </>
      ) : (
        around(choose, about)
      )}
      <Chooser inputRef={files} accept={extensions.join(',')} onFiles={take} />
      {offersFolders ? <Chooser inputRef={folder} isFolder onFiles={take} /> : null}
    </div>
  );
}

interface ChooserProps {
  readonly inputRef: RefObject<HTMLInputElement | null>;
  readonly accept?: string;
  readonly isFolder?: boolean;
  readonly onFiles: (files: readonly DroppedFile[]) => void;
}

function Chooser({ inputRef, accept, isFolder = false, onFiles }: ChooserProps) {
  return (
    <input
      ref={inputRef}
      type="file"
      multiple
      hidden
      {...(accept === undefined ? {} : { accept })}
      {...(isFolder ? { webkitdirectory: '' } : {})}
      onChange={(event) => {
        onFiles(readChosen(event.currentTarget.files));
        event.currentTarget.value = '';
      }}
    />
  );
}
