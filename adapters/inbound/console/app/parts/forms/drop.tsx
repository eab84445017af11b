import { useId, useState } from 'preact/hooks';

/** A place onto which a file is dropped; a click, or Enter, lets one be chosen. */
export function Drop({
  title,
  accept,
  take,
}: {
  readonly title: string;
  /** `.pem,.cer` */
  readonly accept: string;
  readonly take: (file: File) => void;
}) {
  const id = useId();
  const [over, setOver] = useState(false);
  const first = (files: FileList | null | undefined): void => {
    const file = files?.[0];
    if (file) take(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the input inside does the same for a keyboard
    <div
      class={over ? 'dropzone over' : 'dropzone'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        first(event.dataTransfer?.files);
      }}
    >
      <label for={id}>{title}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        onChange={(event) => {
          first(event.currentTarget.files);
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}
