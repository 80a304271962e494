import { Modal, type ModalProps } from '@mantine/core';
import { useLanguage } from '../language/language.tsx';

export type DialogWish = Pick<
  ModalProps,
  'title' | 'size' | 'centered' | 'closeOnClickOutside' | 'onClose' | 'children'
>;

/** What stands before the page until it is closed; it is there as long as it is rendered. */
export function Dialog(wish: DialogWish) {
  const { t } = useLanguage();
  return <Modal opened closeButtonProps={{ 'aria-label': t('action.close') }} {...wish} />;
}
