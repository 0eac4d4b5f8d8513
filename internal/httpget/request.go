// SPDX-License-Identifier: Apache-2.0

package httpget

import (
	"bufio"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"strings"
)

// mostHeader is how many bytes a request may have.
const mostHeader = 16 << 10

// request is the head of a request (RFC 9112, section 3).
type request struct {
	method, path string
	// minor is the second number of the version: 0 knows no chunks.
	minor  int
	header textproto.MIMEHeader
}

// statusError is a request that is answered by a status alone.
type statusError int

// The statuses (RFC 9110, section 15).
const (
	statusOK                 statusError = 200
	statusBadRequest         statusError = 400
	statusNotFound           statusError = 404
	statusNotAllowed         statusError = 405
	statusServerError        statusError = 500
	statusBusy               statusError = 503
	statusUnsupportedVersion statusError = 505
)

func (s statusError) Error() string {
	reasons := map[statusError]string{
		statusOK: "OK", statusBadRequest: "Bad Request", statusNotFound: "Not Found", statusNotAllowed: "Method Not Allowed",
		statusServerError: "Internal Server Error", statusBusy: "Service Unavailable", statusUnsupportedVersion: "HTTP Version Not Supported",
	}
	return fmt.Sprintf("%d %s", int(s), reasons[s])
}

// readRequest reads the head of a request. Its error is a statusError where the client can be told one.
func readRequest(from io.Reader) (*request, error) {
	r := textproto.NewReader(bufio.NewReader(io.LimitReader(from, mostHeader)))
	line, err := r.ReadLine()
	if err != nil {
		return nil, err
	}
	method, rest, _ := strings.Cut(line, " ")
	target, version, ok := strings.Cut(rest, " ")
	if !ok || method == "" {
		return nil, statusBadRequest
	}
	q := &request{method: method}
	switch version {
	case "HTTP/1.1":
		q.minor = 1
	case "HTTP/1.0":
	default:
		return nil, statusUnsupportedVersion
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, statusBadRequest
	}
	q.path = u.Path
	if q.header, err = r.ReadMIMEHeader(); err != nil {
		return nil, statusBadRequest
	}
	return q, nil
}
