/**
 * Every bound of the interface and of indexing. Names end in the unit.
 *
 * A snapshot is cut when it is indexed by the limits of the sections "Reading a repository", "Manifests and rules", "Skills and documents" and
 * "Skills as clients install them", and
 * for the root of a repository also by `OVERVIEW_SKILLS`, `OVERVIEW_DOCUMENTS` and `DIAGNOSTICS_PER_ANSWER`. To change one of them, raise
 * `RULES_VERSION`, so that repositories are indexed again; for `SEARCHED_FILE_BYTES` raise `SEARCH_VERSION`. The times of a job need neither.
 * All other limits apply to the next request or job; listings of owners keep `CARD_SKILL_NAMES` names until the repository is visited again.
 */

// The address
export const ADDRESS_BYTES = 2_048
export const ADDRESS_SEGMENTS = 64
/** The ref of the old side of a comparison. */
export const FROM_CHARACTERS = 2_048

// The interface
export const BROWSE_LIMIT = { min: 1, max: 200, default: 50 } as const
export const FINDINGS_LIMIT = { min: 1, max: 200, default: 50 } as const
export const FIND_LIMIT = { min: 1, max: 25, default: 10 } as const
export const FIND_QUERY_CHARACTERS = 500
export const FIND_FOLDED_FILES = 5
/** Copies of a skill that a result names. */
export const FIND_COPIES = 5
export const FILE_LIMIT_CHARACTERS = { min: 1, max: 100_000, default: 40_000 } as const
export const SKILL_PAGE_BYTES = 16 * 1024
/** A page ends at the last line break within this last share of its bytes, if there is one: within 1 KiB. */
export const SKILL_PAGE_BREAK_SHARE = 1 / 16
/** The shortest page of a skill, for tools that bound their text. */
export const SKILL_PAGE_MIN_BYTES = 1024
export const OVERVIEW_SKILLS = 50
export const OVERVIEW_DOCUMENTS = 50
/** Branches, and tags, that one answer lists. */
export const LISTED_REFS = 500
export const DIAGNOSTICS_PER_ANSWER = 100
export const QUERY_STRING_BYTES = 8 * 1024
/** `retry-after` of answers that wait for the index: most repositories are indexed within a second, and such a request costs one small read. */
export const INDEXING_RETRY_SECONDS = 1

/** Items on a page of changes, which has fewer than its `limit` where they are long; one item may exceed it. */
export const CHANGES_PAGE_BYTES = 1024 * 1024
/** Unified difference of the texts of a skill on a page. */
export const DIFFERENCE_PAGE_BYTES = 16 * 1024
/** Removed and added items whose texts are compared to find out which moved: pairs, and bytes of their texts, in one comparison. */
export const MOVE_PAIRS = 10_000
export const MOVE_BYTES = 8 * 1024 * 1024
/** The longest difference of one text that is searched for, in lines added and removed, and the lines of both sides among which it is. */
export const DIFFERENCE_EDITS = 500
export const DIFFERENCE_LINES = 40_000
/** Facts of one text that a snapshot holds, those of all files of one skill, and those of one kind that an item of an answer lists. */
export const FACTS_PER_TEXT = { hidden: 100, hosts: 1_000, commands: 200 } as const
export const FACTS_PER_SKILL = 2_000
export const FACTS_PER_ITEM = 500
export const COMMAND_CHARACTERS = 200
/** A comparison of texts yields to other requests after this time. */
export const COMPARED_SLICE_MS = 8

/** Text of a tool's result over MCP: paths, addresses and lists around a page take up to a few KiB. */
export const TOOL_BYTES = { min: 24 * 1024, max: 256 * 1024, default: 24 * 1024 } as const

/** Pages of an account's repositories. */
export const OWNER_PAGE = { min: 1, max: 100, default: 1 } as const
/** Cards of an owner page; for an account with more, those with the most skills. */
export const OWNER_CARDS = 100
/** Indexed repositories of one account that are read for its page. */
export const OWNER_LISTINGS = 1_000
export const CARD_SKILL_NAMES = 5
/** Repositories that the status of a deployment looks at. */
export const STATUS_REPOSITORIES = 5_000

// People
export const TOKENS_PER_PERSON = 50
export const TOKEN_LABEL_CHARACTERS = 60
export const TOKEN_DAYS = { min: 1, max: 366 } as const
/** Of one person. A further sign-in ends the oldest. */
export const SESSIONS_PER_PERSON = 20
/** A session ends after this time without a request, and at the latest after `SESSION_DAYS`. */
export const SESSION_IDLE_DAYS = 14
export const SESSION_DAYS = 60
/** Of the path to which a sign-in leads back. */
export const SIGN_IN_RETURN_CHARACTERS = 2_048
/** An installation of an app reads for this time without a refresh, and at the latest for `GRANT_DAYS`. Then it asks the person again. */
export const GRANT_IDLE_DAYS = 30
export const GRANT_DAYS = 90
/** Seconds for which a refresh token is answered again after it was exchanged (`MOUNTGLASS_REFRESH_GRACE_SECONDS`). */
export const REFRESH_GRACE_SECONDS = { min: 0, max: 1_800, default: 300 } as const
/** Grants of one person that are listed. */
export const GRANTS_PER_PERSON = 100

// The operator's content
export const FEATURED_ADDRESSES = 50
export const FEATURED_FILE_BYTES = 64 * 1024
export const OPERATOR_PICTURE_BYTES = 1024 * 1024
/** Entries of the showcase, and the bytes of the file of one. */
export const SHOWCASE_ENTRIES = 50
export const SHOWCASE_FILE_BYTES = 64 * 1024
/** A clip or picture of the showcase, and all media of a folder, which a service that reads it holds in memory. */
export const SHOWCASE_MEDIA_BYTES = 32 * 1024 * 1024
export const OPERATOR_FOLDER_BYTES = 128 * 1024 * 1024
export const LEGAL_FILE_BYTES = 256 * 1024

// Local repositories
/** Branches and tags, loose and packed. */
export const LOCAL_REFS = 50_000
/** The whole file: a mirror of a git host also packs its pull requests, which are not kept. */
export const LOCAL_PACKED_REFS_BYTES = 16 * 1024 * 1024
/** The file that says where the history of a shallow clone ends: 25,000 commits. */
export const LOCAL_SHALLOW_BYTES = 1024 * 1024

// Reading a repository
export const TREE_ENTRIES = 200_000
export const TREE_DEPTH_SEGMENTS = 64
export const PATH_BYTES = 1_024
/** Symbolic links between a link and what it leads to, itself included. */
export const LINK_HOPS = 8
/** Files and folders that symbolic links add to a tree. */
export const LINKED_ENTRIES = 20_000
export const READABLE_FILE_BYTES = 1024 * 1024
/** Of a raw file that this service plays the host of. A larger one that is stored as a change of another file takes git several times its bytes. */
export const RAW_FILE_BYTES = 100 * 1024 * 1024
/** Equal files count once. */
export const INDEXED_TEXT_BYTES = 128 * 1024 * 1024
export const SEARCHED_FILE_BYTES = 256 * 1024
/** Length of the beginning of a Markdown text that is searched for title, headings and links, in UTF-16 units. */
export const MARKDOWN_CHARACTERS = 96 * 1024
/** Processor time of a job. Towards its end files are left out, then skills, and the index is partial. */
export const INDEX_PROCESSOR_SECONDS = 180
/** A job that takes longer waits for a host, a store or a processor. */
export const INDEX_WALL_SECONDS = 600

// Manifests and rules
export const FRONT_MATTER_BYTES = 16 * 1024
export const YAML_DEPTH = 16
export const MANIFEST_BYTES = 64 * 1024
export const RULE_CHAIN_MANIFESTS = 16
export const RULE_CHAIN_BYTES = 128 * 1024
export const EXCLUDE_PATTERNS = 200
export const EXCLUDE_PATTERN_CHARACTERS = 500
export const MANIFEST_NAME_CHARACTERS = 100
/** Unknown fields that get a diagnostic each: a small repository may have thousands of manifests, each with thousands of fields. */
export const MANIFEST_UNKNOWN_FIELDS = 20
export const MANIFEST_IMAGE_BYTES = 5 * 1024 * 1024
export const TRANSLATION_TAGS = 40
export const KEYWORDS = 20
export const KEYWORD_CHARACTERS = 64

// Skills and documents
export const SKILLS = 10_000
export const DOCUMENTS = 20_000
export const SKILL_NAME_CHARACTERS = 64
export const DESCRIPTION_CHARACTERS = 1_024
export const FALLBACK_DESCRIPTION_CHARACTERS = 300
export const COMPATIBILITY_CHARACTERS = 500
export const FRONT_MATTER_VALUE_BYTES = 2 * 1024
export const BODY_LONG_LINES = 500
export const BODY_LONG_BYTES = 20_000
export const INCLUDE_FILES = 16
export const INCLUDE_FILE_BYTES = 64 * 1024
export const INCLUDE_TOTAL_BYTES = 256 * 1024
export const SUPPORTING_FILES = 500
export const REFERENCES = 200
export const REFERENCE_DIRECTORY_FILES = 50
export const OVERSIZED_FILES = 100
export const WARNINGS_PER_SKILL = 20
export const TITLE_CHARACTERS = 200
export const SUMMARY_CHARACTERS = 240
export const LICENSE_NAME_CHARACTERS = 120

// Skills as clients install them
export const PACKAGE_FILES = 1_000
/** Of its files, and so of one. A record that is longer than `PACK_BYTES` is a pack of its own. */
export const PACKAGE_BYTES = 16 * 1024 * 1024
/** Files of a repository that are kept for packages alone, since no reader is given them: fonts, pictures, archives, long texts. Equal ones count once. */
export const UNREAD_PACKAGED_BYTES = 64 * 1024 * 1024

// Jobs
/** Default lease of an index job (`MOUNTGLASS_LEASE_SECONDS`), and the lease of a sweep, which has no setting. */
export const LEASE_SECONDS = 15
/** A job is taken over only after its lease and this share of another one, because clocks may differ. */
export const LEASE_MARGIN = 1 / 3
export const FAILURE_BACKOFF_SECONDS = { first: 30, max: 3_600 } as const
/** A job fails after this many crashes. */
export const JOB_CRASHES = 3
/** Jobs at once of a worker that is told nothing else. A repository has one running job, so that two places leave one to the others. */
export const JOBS_AT_ONCE = 2
/** Jobs of one repository that wait or run at once. Its default branch may add two beyond them: one that runs, and one that waits. */
export const REPOSITORY_JOBS = 8
/** For each job of its repository that waits or runs already, a job lets those of other repositories go first that are offered within this time. */
export const JOB_TURN_SECONDS = 60

// Retention
/** A snapshot is removed this time after it was written, however often it is read: its next visit indexes it again. */
export const RETENTION_DAYS = { min: 1, max: 3_650, default: 90 } as const
/** A snapshot of an earlier version is removed this time after the current one indexed its repository: an upgrade takes hours, and may be rolled back. */
export const OLD_VERSION_DAYS = 7
/** Snapshots of a hidden repository are removed after this time: it may have been hidden by mistake. */
export const HIDDEN_HOURS = 48
/** A pack without a snapshot is removed after this time: it may belong to a running job, or to a header that a reader caches, which it does for half of this time. */
export const UNUSED_PACK_HOURS = 24
/** A probe of a store that is still there after this time was left behind. */
export const PROBE_MINUTES = 60

// The store
export const PACK_BYTES = 8 * 1024 * 1024

/** The newest commits of a local repository: their dates and order are known, and a shortened hash of one is understood. */
export const KNOWN_COMMITS = 10_000
/** Tags among which a page chooses what to compare with. */
export const COMPARED_TAGS = 2_000
/** Commits that a shortened hash may mean, and that are named then. */
export const LIKE_COMMITS = 5
/** Commits of the history of a skill. */
export const HISTORY_COMMITS = 20
/** Of the first line of a commit's message. */
export const SUBJECT_CHARACTERS = 200
