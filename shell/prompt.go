// SPDX-License-Identifier: Apache-2.0

package shell

import "strings"

// Prompt is what the command line shows before the cursor: the source, that the
// connection to it is lost, and the pictures that are not live.
func (sh *Shell) Prompt() string {
	st := sh.session.State()
	words := []string{string(st.Source.Kind)}
	if st.Lost != "" {
		words = append(words, "LOST")
	}
	switch {
	case st.Staged != nil && st.Stale:
		words = append(words, "stale")
	case st.Staged != nil:
		words = append(words, "staged")
	}
	if st.WhatIf != nil {
		words = append(words, "what-if")
	}
	if st.WriteOn {
		words = append(words, "WRITE")
	}
	return strings.Join(words, " ") + "> "
}
