// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// golden decodes 64 bytes of hexadecimal digits with spaces between them.
func golden(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(b) < DataSize {
		b = append(b, make([]byte, DataSize-len(b))...)
	}
	return b
}

// checkAttribute checks decoding and encoding between b and want, and that wrong lengths are refused.
func checkAttribute[T comparable, P attributeOf[T]](t *testing.T, b []byte, want T) {
	t.Helper()
	var got T
	if err := P(&got).UnmarshalBinary(b); err != nil {
		t.Fatalf("decode: %v", err)
	}
	if got != want {
		t.Errorf("decoded\n%+v, want\n%+v", got, want)
	}
	again, err := P(&want).AppendBinary(nil)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	if !bytes.Equal(again, b) {
		t.Errorf("encoded\n%x, want\n%x", again, b)
	}
	appended, err := P(&want).AppendBinary([]byte("before"))
	if err != nil || !bytes.Equal(appended, append([]byte("before"), b...)) {
		t.Errorf("appended %x, %v", appended, err)
	}
	for _, wrong := range [][]byte{nil, {}, b[:1], b[:DataSize-1], append(bytes.Clone(b), 0), make([]byte, Size)} {
		untouched := want
		err := P(&untouched).UnmarshalBinary(wrong)
		if !errors.Is(err, ErrLength) {
			t.Errorf("decode %d bytes: %v, want %v", len(wrong), err, ErrLength)
		}
		if untouched != want {
			t.Errorf("decoding %d bytes changed the value", len(wrong))
		}
	}
}

// fuzzAttribute checks that decoding and encoding return the same 64 bytes.
func fuzzAttribute[T comparable, P attributeOf[T]](f *testing.F) {
	f.Add(bytes.Repeat([]byte{0}, DataSize))
	f.Add(bytes.Repeat([]byte{0xff}, DataSize))
	f.Add([]byte("too short"))
	ascending := make([]byte, DataSize)
	for i := range ascending {
		ascending[i] = uint8(i)
	}
	f.Add(ascending)
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second T
		if err := P(&first).UnmarshalBinary(b); err != nil {
			if len(b) == DataSize {
				t.Fatal(err)
			}
			return
		}
		again, err := P(&first).AppendBinary(nil)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%x came back as %x, %v", b, again, err)
		}
		if err := P(&second).UnmarshalBinary(again); err != nil || second != first {
			t.Fatalf("decoded again: %+v, %v, want %+v", second, err, first)
		}
	})
}

func TestAttrIDString(t *testing.T) {
	for id, want := range map[AttrID]string{
		AttrNodeInfo:                 "NodeInfo",
		AttrLinearForwardingTable:    "LinearForwardingTable",
		AttrMellanoxExtendedPortInfo: "MellanoxExtendedPortInfo",
		0x1234:                       "attribute 0x1234",
	} {
		if got := id.String(); got != want {
			t.Errorf("AttrID(0x%04x) is %q, want %q", uint16(id), got, want)
		}
	}
}
