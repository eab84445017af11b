/**
 * Lets the devices of a manufacturer into a domain although nobody registered them: those whose IDevID (IEEE 802.1AR) chains to
 * the truststore and bears a serial number that the pattern matches.
 */
export interface DevidRegistration {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** Of usage IDevID. */
  readonly truststore: number;
  /** Where the devices are created. */
  readonly domain: number;
  /** In the dialect of `Patterns`; it has to match the whole serial number. */
  readonly serialNumberPattern: string;
}
