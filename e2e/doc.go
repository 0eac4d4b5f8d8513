// SPDX-License-Identifier: Apache-2.0

// Package e2e tests ibconsole from end to end: it builds the program once and runs it as people, scripts and terminals
// do, together with OpenSM, ibsim and the InfiniBand diagnostics where these are installed. Cases that consist of
// commands and their output are scripts in testdata/script.
package e2e
