// SPDX-License-Identifier: Apache-2.0

// Package counted tests the figures that commands print. A model that knows only the dumped topology and tables of a
// state walks every path link by link, and each figure of a command, in text and in JSON, is compared with it in random
// scenes. The model shares no code with the checks of package routing.
package counted
