// SPDX-License-Identifier: Apache-2.0

// Package shell is the command language of ibconsole over one session: every
// command of the scripts, the REPL and the terminal interface.
package shell
