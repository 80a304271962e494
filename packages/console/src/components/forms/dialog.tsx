import { Modal, type ModalProps } from '@mantine/core';
import { useLanguage } from '../../language/language.tsx';
import { useFocusReturn } from './use-focus-return.ts';

export type DialogProps = Pick<
  ModalProps,
  'title' | 'size' | 'centered' | 'closeOnClickOutside' | 'onClose' | 'children'
>;

/** A modal dialog, open while it is rendered. */
export function Dialog(props: DialogProps) {
  const { t } = useLanguage();
  useFocusReturn();
  return <Modal opened closeButtonProps={{ 'aria-label': t('action.close') }} {...props} />;
}
