// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"runtime/debug"
	"strings"
	"testing"
)

// TestDescribe checks that each module of a program is listed with the licences of its version, and none without.
func TestDescribe(t *testing.T) {
	licences, err :=
		readLicences(strings.NewReader("program  a.org/one  v1.0.0  LICENSE:MIT COPYING:MIT,public-domain\ntests " +
			"a.org/two v2.0.0 LICENSE:ISC\n"))
	if err != nil {
		t.Fatal(err)
	}
	info := &buildinfo.BuildInfo{
		GoVersion: "go1.0", Main: debug.Module{Path: "b.org/main"},
		Deps:     []*debug.Module{{Path: "a.org/one", Version: "v1.0.0"}},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}},
	}
	d, err := describe(info, "1.2", "2026-01-02T03:04:05Z", licences)
	if err != nil {
		t.Fatal(err)
	}
	one := d.Packages[len(d.Packages)-1]
	if d.Name != "ibconsole-1.2-linux-arm64" || one.Name != "a.org/one" ||
		one.Declared != "MIT AND LicenseRef-public-domain" || one.ID != "SPDXRef-a.org-one" ||
		len(d.Relationships) != 3 {
		t.Errorf("%+v", d)
	}
	info.Deps[0].Version = "v1.0.1"
	if _, err := describe(info, "1.2", "", licences); err == nil || !strings.Contains(err.Error(), "a.org/one v1.0.1") {
		t.Errorf("a version without a licence: %v", err)
	}
}
