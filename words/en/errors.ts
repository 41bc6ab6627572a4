/** What the interface answers, by the code of the error, and by a case after a colon. Each says what is wrong and what to do next. */
export const ERRORS = {
  'address.invalid_escape': 'the address has a percent-escape that is malformed or not UTF-8; encode each segment as UTF-8',
  'address.unknown_host': 'this deployment does not serve the host segment of the address; check its spelling',
  'address.incomplete': 'the address is incomplete; it needs /<host>/<owner>/<repository>',
  'address.invalid_owner': 'the owner is not a name that the host allows; check its spelling',
  'address.invalid_repository': 'the repository is not a name that the host allows; check its spelling',
  'address.invalid_ref': 'the text after @ is not a branch, a tag or a commit name; check its spelling',
  'address.invalid_path': 'the path has an empty segment, . or .., a backslash or a control character; use a canonical path',
  'address.too_long': 'the address exceeds {addressBytes} bytes or {addressSegments} segments; shorten it',
  'request.invalid':
    'a query parameter is invalid, or the cursor is not for this request; correct it, or restart from the first page',
  'request.not_found': 'this route does not exist; /api/v1/openapi.json lists the routes of the API',
  'request.method_not_allowed': 'this route does not support the method; the header allow lists those that it supports',
  'request.timeout': 'the request did not arrive in time; send it again without pauses',
  'request.too_large': 'the body of the request is too large',
  'request.encoded': 'the body has a content-encoding; send it without one',
  'request.headers_too_large': 'the headers of the request are too large; send fewer or shorter ones',
  'mount.repo_not_found': 'the repository does not exist, or you may not see it; check its owner and name',
  'mount.ref_not_found': 'the repository has no such branch, tag or commit; check or omit the ref of the address',
  'mount.path_not_found':
    'there is nothing to read at this path of the commit: no such folder exists, or a manifest excludes it; check the path, or omit it for the root',
  'mount.not_allowed': 'this deployment does not serve this repository; ask its operator',
  'mount.rate_limited': 'the git host limits the rate of requests; try again later',
  'mount.unavailable': 'the git host cannot be reached; try again later',
  'skill.not_found': 'no skill to load at this path inside the mount: it is not there, or a manifest excludes it; check the path',
  'skill.ambiguous': 'several skills match; repeat the request with one of the directories',
  'skill.unavailable': 'the indexed content cannot be read now; try again later',
  'index.indexing': 'the repository is being indexed; try again after retryAfter seconds',
  'index.failed': 'the repository could not be indexed; try again later',
  'file.not_found': 'nothing to read at this path inside the mount: it is not there, or a manifest excludes it; check the path',
  'file.not_served': 'the license of the file permits a description but no copy; read it at sourceUrl',
  'file.too_large': 'the file is larger than {readableBytes} bytes; read it at sourceUrl',
  'file.not_text': 'the file is not UTF-8 text; read it at sourceUrl',
  'owner.invalid': 'the path does not name an account; it needs /gh/<owner>',
  'owner.not_found': 'the account does not exist at the git host; check its name',
  'legal.not_found': 'this deployment has no such page; the kinds are terms and privacy',
  'auth.required': 'nobody is signed in, or the token is not valid for this; sign in, or send a valid token',
  'auth.forbidden_origin': 'only pages of this deployment may send this request; use its pages',
  'auth.unavailable': 'who is signed in cannot be looked up now; try again later',
  'token.invalid':
    'the body is not { address, label, expiresInDays }; label has 1 to {labelCharacters} characters, expiresInDays is {minDays} to {maxDays}',
  'token.not_a_repository': 'a token reads a whole repository; omit the ref and the path of the address',
  'token.public_repository': 'everyone may read this repository; it needs no token',
  'token.limit': 'one person holds at most {tokens} tokens; delete one that is no longer used',
  'token.not_found': 'you have no such token; it may have been deleted or have expired',
  'grant.not_found': 'you have no such grant; it may have been ended already',
  'oauth.invalid_request': 'the authorization request is malformed or has expired; start again in the app',
  'oauth.not_visible': 'you cannot open this repository, so you cannot let an app read it; check its address',
  'hook.forged': 'the signature of the message is missing or wrong; check the secret of the webhook',
  'hook.busy': 'the message arrived more slowly than others that needed its memory; send it again',
  'service.internal': 'an internal error occurred; try again, and report the request id if it persists',
  // Cases that many people meet.
  'mount.ref_not_found:shortened':
    'the repository has no branch or tag of this name; if it is the beginning of a commit hash, give all 40 digits',
  'mount.ref_not_found:slash':
    'the repository has a branch or tag of this name with a slash in it; write the slash as %2F, as in @feature%2Fx',
  'mount.ref_not_found:default':
    'the default branch that the repository names does not exist; name one of its branches or tags after @, as the route refs lists them',
  'mount.ref_not_found:tags': 'the repository has tags and no branch; name one of its tags after @, as the route refs lists them',
  'mount.ref_not_found:empty': 'the repository has no commits yet; add one, and try again',
  'mount.unavailable:damaged':
    'the repository is damaged: objects of it are missing or cannot be read; ask its operator to repair it',
  'file.not_found:there': 'the file is in the repository, and agents do not get it; the original is at sourceUrl',
  'file.not_found:there_kept':
    'the file is in the repository, and agents do not get it; no license permits a copy, so this deployment does not serve the original either',
  'file.not_found:link': 'this is a symbolic link, and it leads to no file that agents get; the original is at sourceUrl',
  'file.not_found:link_kept':
    'this is a symbolic link, and it leads to no file that agents get; this deployment does not serve the original either',
  'file.not_found:submodule': 'this is a submodule: another repository, of which nothing is read or served here',
  'file.not_served:kept':
    'no license permits a copy of the file, and this deployment withholds the original too; ask the owner of the repository',
  'mount.not_allowed:sha256':
    'the repository names its objects by SHA-256, and only repositories of the object format SHA-1 are served',
  'file.too_large:raw':
    'the file is larger than {rawBytes} bytes, the most that is served of a raw file; read it in a clone of the repository',
  'file.not_text:lfs': 'the text is kept in Git LFS: the repository holds only a pointer to it, which is at sourceUrl',
} as const

/** What pages say instead, where the words of the interface are not for people. */
export const ERRORS_ON_PAGES: Readonly<Record<string, string>> = {
  'address.unknown_host': 'its first part names no git host of this server',
  'mount.ref_not_found': 'nothing here has this name',
  'mount.ref_not_found:empty': 'this repository has no commits yet',
  'mount.ref_not_found:shortened': 'if it begins the hash of a commit, give more of its digits, or all 40',
  'mount.ref_not_found:default': 'the repository names it as its default branch, and has no such branch; open one of the others',
  'mount.ref_not_found:tags': 'the repository has tags and no branch; open one of its tags',
  'mount.path_not_found': 'nothing to read here: it is not there, or SKILLSET.md leaves it out',
  'mount.not_allowed': 'this server does not show this repository; its operator decides which ones it shows',
  'mount.unavailable:damaged': 'this repository is damaged; its operator finds the cause in the log',
  'skill.not_found': 'nothing to load here: it is not there, or SKILLSET.md leaves it out',
  'skill.ambiguous': 'several skills match; choose one of the folders',
  'file.not_found': 'nothing to read here: it is not there, or SKILLSET.md leaves it out',
  'file.not_found:there': 'the file is in the repository, and agents do not get it',
  'file.not_found:there_kept':
    'the file is in the repository, and agents do not get it; its license allows no copies, so this server keeps the original back as well',
  'file.not_found:link': 'this is a symbolic link, and it leads to no file that agents get',
  'file.not_found:link_kept':
    'this is a symbolic link, and it leads to no file that agents get; this server keeps the original back as well',
  'file.too_large': 'the file is larger than 1,048,576 bytes; read it on its git host',
  'file.not_served': 'its license allows no copies; read it on its git host',
  'file.not_served:kept':
    'no license allows copies of the file, and this server keeps the original back as well; ask the owner of the repository',
  'file.not_text': 'the file is not UTF-8 text; read it on its git host',
  'legal.not_found': 'this server has no such page',
  'owner.not_found': 'the git host has no account of this name; check its spelling',
  'auth.forbidden_origin': 'only pages of this server may send this; use its pages',
  'token.not_a_repository': 'a token reads a whole repository; leave out the version and the path',
  'request.invalid': 'the link is wrong, or no longer right; start from the first page',
  'mount.not_allowed:sha256':
    'the repository names its objects by SHA-256, and only repositories of the object format SHA-1 are shown',
  'file.too_large:raw':
    'the file is larger than 104,857,600 bytes, the most that is served of a raw file; read it in a clone of the repository',
  'file.not_text:lfs': 'the text is kept in Git LFS: the repository holds only a pointer to it',
  // Where the page says how long to wait.
  'mount.rate_limited:wait': 'the git host limits the rate of requests',
  'mount.unavailable:wait': 'the git host cannot be reached',
  'skill.unavailable:wait': 'the indexed content cannot be read now',
  'index.indexing:wait': 'the repository is being indexed',
  'index.failed:wait': 'the repository could not be indexed',
  'auth.unavailable:wait': 'who is signed in cannot be looked up now',
}
