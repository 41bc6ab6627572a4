// A setup file runs before each test file. What it imports is loaded once for all files of a worker.
import './program-hooks.ts'
