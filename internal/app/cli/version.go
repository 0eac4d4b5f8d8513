// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"runtime/debug"
)

// release is the version that make dist sets. It is "" in other builds.
var release string

// version returns the release or the version of the module, with the commit and its date if they are known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(release, "(devel)")
	}
	return versionOf(release, info)
}

func versionOf(release string, info *debug.BuildInfo) string {
	text := cmp.Or(release, info.Main.Version, "(devel)")
	of := map[string]string{}
	for _, s := range info.Settings {
		of[s.Key] = s.Value
	}
	commit := of["vcs.revision"]
	if commit == "" {
		return text
	}
	text += fmt.Sprintf(", commit %.12s", commit)
	if when := of["vcs.time"]; when != "" {
		text += " of " + when
	}
	if of["vcs.modified"] == "true" {
		text += " with changes"
	}
	return text
}
