// SPDX-License-Identifier: Apache-2.0

// Package e2e tests ibconsole from end to end: a program that is built once and run as
// people, scripts and terminals run it, beside OpenSM, ibsim and the InfiniBand
// diagnostics where there are any. Cases that are commands and what they say are scripts
// in testdata/script.
package e2e
