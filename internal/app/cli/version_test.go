// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
	if got := versionOf("", info); got != "v1.2.3" {
		t.Error(got)
	}
	info.Settings = []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}
	if got := versionOf("1.3.0", info); got != "1.3.0, commit 0123456789ab of 2026-01-02T03:04:05Z with changes" {
		t.Error(got)
	}
}
