/** How the cloud's APIs are asked, whichever it is. */

/**
 * Of every client. Without it a connection that died is waited for until the function is killed, and then its message
 * comes again after an hour; so it is asked anew, on another one. In ms: twice fit into the shortest function's time.
 */
export const ASKING = { requestHandler: { connectionTimeout: 2000, socketTimeout: 4000 } } as const;
