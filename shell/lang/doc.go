// SPDX-License-Identifier: Apache-2.0

// Package lang is the command language of the console: statements with the quoting of a POSIX shell, commands
// described by Specs, the check of a statement against a Spec, completion of a line that is being typed, and
// help. It knows neither a fabric nor what a command does.
package lang
