/** Resolves to undefined for a file or folder that does not exist. */
export async function unlessMissing<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found
  } catch (error) {
    if (Object(error).code === 'ENOENT') return undefined
    throw error
  }
}
