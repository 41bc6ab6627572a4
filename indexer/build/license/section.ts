/** The one licence that the licence section of a README names, as SPDX id; `null` when it names none, several, or says more. */
export declare function readLicenseSection(markdown: string): string | null
