import { formatAddress } from '#core/address.ts'
import { readTypedAddress, type TypedContext } from '#core/typed-address.ts'
import { contentHref, ownerHref } from './links.ts'

/** The page for a text in the address field, or the error to show. */
export type OpenTarget = { location: string } | { message: string }

/** The page of what a text in the address field means. The URL of an account leads to the page of the account. */
export function openTarget(text: string, context: TypedContext): OpenTarget {
  const typed = readTypedAddress(text, context)
  switch (typed.kind) {
    case 'owner':
      return { location: ownerHref(typed.owner.owner) }
    case 'unreadable':
      return { message: sentence(typed.code === null ? typed.message : `not an address: ${typed.message}`) }
    case 'address': {
      const { address, file, query } = typed
      if (file !== undefined) return { location: contentHref(address, file) }
      return { location: formatAddress(address) + (query === undefined ? '' : `?${new URLSearchParams(query)}`) }
    }
  }
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
