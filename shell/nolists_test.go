// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"encoding/json"
	"testing"
	"time"
)

func TestWithLists(t *testing.T) {
	type inner struct {
		L []int          `json:"l"`
		M map[string]int `json:"m"`
		O []int          `json:"o,omitempty"`
	}
	type outer struct {
		inner
		P    *inner    `json:"p"`
		Q    *inner    `json:"q"`
		S    []inner   `json:"s"`
		A    any       `json:"a"`
		When time.Time `json:"when"`
		self *outer
	}
	shared := &inner{}
	v := &outer{P: shared, S: []inner{{}}, A: []string(nil)}
	v.self = v
	got, err := json.Marshal(withLists(v))
	const want = `{"l":[],"m":{},"p":{"l":[],"m":{}},"q":null,"s":[{"l":[],"m":{}}],"a":[],"when":"0001-01-01T00:00:00Z"}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if shared.L != nil || v.S[0].M != nil {
		t.Error("what was handed over has changed")
	}
	for _, v := range []any{nil, 5, "x", []int(nil), struct{}{}} {
		if got, err := json.Marshal(withLists(v)); err != nil || string(got) == "null" && v != nil {
			t.Errorf("%#v: %s, %v", v, got, err)
		}
	}
}
