#!/usr/bin/env node
// Committed, unlike dist/: npm links a workspace's command at install time, before the first build.
import '../dist/kernel-modules/bin.js'
